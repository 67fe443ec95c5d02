/** Every way this library can fail other than tmux answering "no" (that is a Result), with what to do next. */
const hints = {
  invalid_parameters: 'Correct the named parameter.',
  invalid_target: 'Name the object by its id (%1, @1, $1), or by names tmux cannot mistake.',
  unknown_operation: 'List what exists with operations.kinds().',
  duplicate_operation: 'Give the operation another kind.',
  version_unsupported: 'Use a newer tmux, or do without.',
  command_failed: '',
  no_server: 'Start a server first: newSession() does.',
  unknown_outcome: 'The connection ended before tmux answered: look at the server before repeating the call.',
  missing_binary:
    'Install tmux 3.2 or newer (apt install tmux, brew install tmux), or name its path in the option `tmux`.',
  connection_lost: 'Call again: the engine reconnects. Look first whether the command took effect.',
  timed_out: 'The command may still take effect; raise timeoutMs if it is expected to be slow.',
  aborted: 'The command may still take effect: aborting only stops the waiting.',
  protocol: 'tmux answered in a way this library does not know; please report it with the tmux version.',
  protocol_mismatch: 'Use the control or the subprocess engine with this server.',
  too_long: 'Make the command shorter, or use another engine: all but imsg carry any length.',
  unknown_engine: 'Use one of the names the error lists.',
  engine_closed: 'Create a new engine.',
  forward_reference: 'Run the operation inside the plan that creates the object.',
  failed_create: 'The operation that should have created the object failed; its result is in details.',
  pipe_taken: 'The pane is piped already; pass force: true to replace that pipe.',
  pipe_unavailable:
    'A pipe needs the program mkfifo, and a folder for temporary files it may write to: see TMPDIR.',
  pane_dead: 'The process of this pane has ended; respawn it first.',
  invalid_workspace: 'Correct the named key of the workspace file.',
  workspace_exists: 'Pass onExists: "replace" or "reuse", or choose another session name.',
  script_failed: 'Make before_script exit 0, or remove it.',
} as const;

/** What to do about what tmux itself says; the first that matches. */
const hintsByMessage: readonly (readonly [said: RegExp, hint: string])[] = [
  [/can't find pane|no such pane/, 'The pane is gone: listPanes() gives those there are.'],
  [/can't find window|no such window/, 'The window is gone: listWindows() gives those there are.'],
  [/can't find session|no such session/, 'The session is gone: listSessions() gives those there are.'],
  [/can't find client/, 'The client has left: listClients() gives those there are.'],
  [/no current (client|session|window|pane|target)/, 'Say which one: give a target.'],
  [/no sessions/, 'Make a session first: newSession() does.'],
  [/duplicate session/, 'Choose another name, or take the session that has it: server.session(name).'],
  [/no space for new pane|pane too small/, 'Make the window larger with resizeWindow(), or use a new one.'],
  [/index \d+ in use|index in use/, 'Leave the index out, or choose a free one.'],
  [/still active/, 'Something runs there: pass kill: true to end it.'],
  [/(invalid|unknown|ambiguous) option/, 'showOptions() gives the names there are; your own start with @.'],
  [/bad value|unknown value|value is/, 'showOptions() gives the present value, in the form tmux wants.'],
  [/target pane has exited/, 'Its process has ended: respawnPane() starts another.'],
  [/no buffer|unknown buffer/, 'listBuffers() gives the buffers there are.'],
  [/not in a mode/, 'Enter a mode first: copyMode() does.'],
  [
    /unknown command/,
    'The memory engine has only a part of tmux: use control, subprocess or imsg. A real tmux says this of what is newer than itself.',
  ],
];

export type TmuxErrorCode = keyof typeof hints;

/**
 * The one error class of the library: branch on `code`, show `message`, act on `hint`.
 *
 * @example
 * const known = (error: unknown) => (error instanceof TmuxError ? `${error.message} ${error.hint}` : undefined);
 * await server.newSession({ name: 'demo' }).catch((error) => console.error(known(error)));
 */
export class TmuxError extends Error {
  readonly code: TmuxErrorCode;
  /** What to do next; empty when tmux refused in words this library has no advice for. */
  readonly hint: string;
  readonly details: Readonly<Record<string, unknown>>;

  constructor(code: TmuxErrorCode, message: string, details: Record<string, unknown> = {}, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = 'TmuxError';
    this.code = code;
    this.hint = hints[code] || (hintsByMessage.find(([said]) => said.test(message))?.[1] ?? '');
    this.details = details;
  }
}
