// The raw limit: runs a program on a terminal and reads all it prints, or measures how long a byte takes to come back.
#include <pty.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec + t.tv_nsec / 1e9;
}

int main(int argc, char **argv) {
  static char buffer[64 * 1024];
  int echoes = argc > 2 && strcmp(argv[1], "--echo") == 0 ? atoi(argv[2]) : 0;
  int terminal;
  pid_t child = forkpty(&terminal, NULL, NULL, NULL);
  if (child == 0) {
    struct termios raw;
    tcgetattr(0, &raw);
    if (echoes) cfmakeraw(&raw);
    tcsetattr(0, TCSANOW, &raw);
    execvp(argv[echoes ? 3 : 1], argv + (echoes ? 3 : 1));
    _exit(127);
  }
  if (echoes) {
    usleep(200000);
    for (int i = 0; i < echoes; i++) {
      double start = now();
      if (write(terminal, "x", 1) != 1 || read(terminal, buffer, sizeof buffer) < 1) return 1;
      printf("%f\n", (now() - start) * 1e6);
    }
    return 0;
  }
  double start = now();
  long bytes = 0;
  for (ssize_t n; (n = read(terminal, buffer, sizeof buffer)) > 0;) bytes += n;
  waitpid(child, NULL, 0);
  printf("%ld %f\n", bytes, now() - start);
  return 0;
}
