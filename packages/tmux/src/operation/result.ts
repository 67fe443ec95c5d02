import { TmuxError } from '../errors.ts';
import type { Operation } from './operation.ts';
import { linesOf, type Reply } from './reply.ts';

/**
 * What became of one operation. A failure of tmux is a value; `unwrap()` and `raiseForStatus()` turn it into an error.
 *
 * @example
 * const result = await execute(engine, killPane({ target: '%999' }));
 * if (!result.ok) console.log(result.status, result.stderr); // failed [ "can't find pane: %999" ]
 */
export class Result<V = unknown> {
  readonly operation: Operation<unknown, V>;
  /** The words sent; null when the operation was never sent. */
  readonly argv: readonly string[] | null;
  readonly status: Reply['status'];
  readonly stdout: readonly string[];
  readonly stderr: readonly string[];
  /** The typed answer, null unless complete. */
  readonly value: V | null;

  constructor(
    operation: Operation<unknown, V>,
    argv: readonly string[] | null,
    reply: Reply,
    value: V | null,
  ) {
    this.operation = operation;
    this.argv = argv;
    this.status = reply.status;
    this.stdout = linesOf(reply.stdout);
    this.stderr = linesOf(reply.stderr);
    this.value = value;
    Object.freeze(this);
  }

  get ok(): boolean {
    return this.status === 'complete';
  }

  /** Throws when the operation failed or its outcome is unknown; a skipped one passes. */
  raiseForStatus(): this {
    if (this.status === 'failed' || this.status === 'unknown') throw this.#error();
    return this;
  }

  /** The typed answer, or an error for anything but complete. */
  unwrap(): V {
    if (this.status !== 'complete') throw this.#error();
    return this.value as V;
  }

  toJSON(): Record<string, unknown> {
    const { operation, argv, status, stdout, stderr, value } = this;
    return { operation: operation.toJSON(), argv, status, stdout, stderr, value };
  }

  #error(): TmuxError {
    const said = this.stderr.join(' ') || 'no message';
    const code =
      this.status === 'unknown' ? 'unknown_outcome' : isNoServer(said) ? 'no_server' : 'command_failed';
    return new TmuxError(code, `${this.operation.kind} ${this.status}: ${said}`, { result: this });
  }
}

/** tmux's two ways to say that nothing listens on the socket. */
function isNoServer(stderr: string): boolean {
  return /no server running on|error connecting to .*(No such file|Connection refused)|server exited unexpectedly/.test(
    stderr,
  );
}
