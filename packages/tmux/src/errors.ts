/** Every way this library can fail other than tmux answering "no" (that is a Result), with what to do next. */
const hints = {
  invalid_parameters: 'Correct the named parameter.',
  invalid_target: 'Name the object by its id (%1, @1, $1), or by names tmux cannot mistake.',
  unknown_operation: 'List what exists with operations.kinds().',
  duplicate_operation: 'Give the operation another kind.',
  version_unsupported: 'Use a newer tmux, or leave the parameter out.',
  command_failed: 'The message is tmux’s own; check that the target still exists.',
  no_server: 'Start a server first: newSession() does.',
  unknown_outcome: 'The connection ended before tmux answered: look at the server before repeating the call.',
  missing_binary: 'Install tmux 3.2 or newer, or name its path in the option `tmux`.',
  connection_lost: 'Call again: the engine reconnects. Look first whether the command took effect.',
  timed_out: 'The command may still take effect; raise timeoutMs if it is expected to be slow.',
  aborted: 'The command may still take effect: aborting only stops the waiting.',
  protocol: 'tmux answered in a way this library does not know; please report it with the tmux version.',
  protocol_mismatch: 'Use the control or the subprocess engine with this server.',
  too_long: 'Make the command shorter, or use the control engine, which carries commands of any length.',
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

export type TmuxErrorCode = keyof typeof hints;

/**
 * The one error class of the library: branch on `code`, show `message`, act on `hint`.
 *
 * @example try { await server.newSession({ name: 'work' }) } catch (e) { if (e.code === 'no_server') … }
 */
export class TmuxError extends Error {
  readonly code: TmuxErrorCode;
  readonly hint: string;
  readonly details: Readonly<Record<string, unknown>>;

  constructor(code: TmuxErrorCode, message: string, details: Record<string, unknown> = {}, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = 'TmuxError';
    this.code = code;
    this.hint = hints[code];
    this.details = details;
  }
}
