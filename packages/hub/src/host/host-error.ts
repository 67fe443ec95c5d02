/** Every way the host can refuse or fail, with what to do next. */
const hints = {
  invalid_parameters: 'Correct the named parameter.',
  program_missing:
    'Name a program that exists, by its path or by a name that is on the PATH of its environment.',
  program_not_executable: 'Make the file executable (chmod +x), or start it with its interpreter.',
  cwd_unusable: 'Name a folder that exists and may be entered.',
  pty_unavailable: 'Close some panes, or raise the limits of open files and of pseudo terminals.',
  pipe_unavailable: 'A pipe needs the program mkfifo, and a folder that can be written to.',
  duplicate_pane: 'Choose another id, or forget the pane of this id first.',
  unknown_pane: 'List the panes to see which there are.',
  wrong_kind: 'A tmux pane is written to, resized and killed through tmux; a pty pane through the host.',
  pane_running: 'Kill the pane first.',
  pane_exited: 'The program of this pane has ended; only its output is left.',
  input_full: 'The program does not read its input; wait until it does.',
  output_unreadable:
    'Try again: nothing of it was given up. If it stays so, look after the disk that poly server status names.',
  search_busy: 'Wait until others have found what they look for, then try again.',
  kill_failed: 'The kernel does not let these processes end yet; they wait for a device or a file system.',
  panes_alive: 'Pass killPanes: true to end them with the host.',
  unknown_request: 'The host is older than the hub; it is renewed when its last pane has ended.',
  protocol_mismatch: 'Stop the host with the version of poly that has started it, then try again.',
  unsafe_directory: 'Make the folder yours alone: chmod 700.',
  host_unavailable: 'The log of the host, host.log in its folder, says why it does not start.',
  host_silent: 'Its process may be stopped: poly doctor names it, and kill -CONT lets it go on.',
  connection_lost:
    'Look before you ask again, for it may have been done, or be done yet. The panes of a host that lives are still there.',
  internal: 'A defect of the host; host.log in its folder knows more.',
} as const;

export type HostErrorCode = keyof typeof hints;

/** The one error class of the host: branch on `code`, show `message`, act on `hint`. */
export class HostError extends Error {
  readonly code: HostErrorCode;
  readonly hint: string;
  /** For what the system refused: `errno` is its name, ENOENT for instance. */
  readonly details: Readonly<Record<string, unknown>>;

  constructor(
    code: HostErrorCode,
    message: string,
    details: Readonly<Record<string, unknown>> = {},
    cause?: unknown,
  ) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = 'HostError';
    this.code = code;
    this.hint = hints[code];
    this.details = details;
  }
}

export function isHostErrorCode(code: string): code is HostErrorCode {
  return Object.hasOwn(hints, code);
}

/** The name the system gives a failure, ENOENT for instance. */
export function errnoOf(error: unknown): string | undefined {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  return typeof code === 'string' ? code : undefined;
}
