/* Preloaded into a process: traces the syncs of hub.db*, fails one or its writes, or those of output, or lets these wait, or says that little is free, when a file says so, or kills. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/vfs.h>
#include <unistd.h>

static int ours(int fd, const char *name) {
  char link[64], path[4096];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t length = readlink(link, path, sizeof path - 1);
  if (length < 0) return 0;
  path[length] = 0;
  return strstr(path, name) != NULL;
}

/* Before this write the process dies, after a pause in which it may say what it should not. */
static void mayDie(int fd) {
  static int writes = 0;
  const char *at = getenv("POLY_KILL_AT_WRITE");
  if (at == NULL || !ours(fd, "/hub.db") || __sync_add_and_fetch(&writes, 1) != atoi(at)) return;
  usleep(20000);
  kill(getpid(), SIGKILL);
}

static int told(const char *what) {
  char path[4096];
  if (getenv("POLY_FAULTS") == NULL) return 0;
  snprintf(path, sizeof path, "%s/%s", getenv("POLY_FAULTS"), what);
  return access(path, F_OK) == 0;
}

/* A disk on which there is no space but what the reserve takes, for the record and what lies beside it. */
static int tight(int fd) {
  char link[64], path[4096];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t length = readlink(link, path, sizeof path - 64);
  if (length < 0 || !told("tight")) return 0;
  path[length] = 0;
  char *name = strstr(path, "/hub.");
  if (name == NULL) return 0;
  if (strstr(name, ".reserve") != NULL) return 1;
  strcpy(name, "/hub.db.reserve");
  return access(path, F_OK) == 0;
}

static int full(int fd) {
  mayDie(fd);
  if (tight(fd)) return 1;
  while (ours(fd, "/panes/") && told("stuck")) usleep(10000);
  return (ours(fd, "/hub.db") || ours(fd, "/panes/")) && told("full");
}

static int synced(int fd, const char *name) {
  if (ours(fd, "/hub.db")) {
    char path[4096];
    if (told("eio")) {
      snprintf(path, sizeof path, "%s/eio", getenv("POLY_FAULTS"));
      unlink(path);
      return errno = EIO, -1;
    }
    snprintf(path, sizeof path, "%s/trace", getenv("POLY_FAULTS"));
    int trace = getenv("POLY_FAULTS") == NULL ? -1 : open(path, O_WRONLY | O_APPEND | O_CREAT, 0600);
    if (trace >= 0) {
      if (((ssize_t(*)(int, const void *, size_t))dlsym(RTLD_NEXT, "write"))(trace, "sync\n", 5) != 5) abort();
      close(trace);
    }
  }
  return ((int (*)(int))dlsym(RTLD_NEXT, name))(fd);
}

int fsync(int fd) { return synced(fd, "fsync"); }
int fdatasync(int fd) { return synced(fd, "fdatasync"); }

ssize_t write(int fd, const void *data, size_t size) {
  if (full(fd)) return errno = ENOSPC, -1;
  return ((ssize_t(*)(int, const void *, size_t))dlsym(RTLD_NEXT, "write"))(fd, data, size);
}

ssize_t pwrite(int fd, const void *data, size_t size, off_t at) {
  if (full(fd)) return errno = ENOSPC, -1;
  return ((ssize_t(*)(int, const void *, size_t, off_t))dlsym(RTLD_NEXT, "pwrite"))(fd, data, size, at);
}

ssize_t pwrite64(int fd, const void *data, size_t size, off64_t at) {
  if (full(fd)) return errno = ENOSPC, -1;
  return ((ssize_t(*)(int, const void *, size_t, off64_t))dlsym(RTLD_NEXT, "pwrite64"))(fd, data, size, at);
}

int statfs64(const char *path, struct statfs64 *found) {
  int outcome = ((int (*)(const char *, struct statfs64 *))dlsym(RTLD_NEXT, "statfs64"))(path, found);
  if (outcome == 0 && told("nearly full")) found->f_bavail = 15 * 1024 * 1024 / found->f_bsize;
  return outcome;
}

int statfs(const char *path, struct statfs *found) {
  int outcome = ((int (*)(const char *, struct statfs *))dlsym(RTLD_NEXT, "statfs"))(path, found);
  if (outcome == 0 && told("nearly full")) found->f_bavail = 15 * 1024 * 1024 / found->f_bsize;
  return outcome;
}
