import { requireEngine } from './operation/given.ts';
import { newGuard } from './operation/guard.ts';
import { type Operation, requireOperation, shownGuard } from './operation/operation.ts';
import type { Reply } from './operation/reply.ts';
import { skippedReply } from './operation/reply.ts';
import { Result } from './operation/result.ts';
import type { TmuxVersion } from './operation/version.ts';

/** How a tmux server is found: tmux's own -S, -L, -f and -2. */
export interface ConnectionOptions {
  /** Path of the server's socket (-S). */
  readonly socketPath?: string;
  /** Name of the server's socket (-L). Without either: $TMUX's server, else tmux's default. */
  readonly socketName?: string;
  /** Configuration file read when a server is started (-f). */
  readonly configFile?: string;
  /** Assume 256 colours (-2). */
  readonly colors256?: boolean;
  /** The tmux program; default `tmux` on PATH. */
  readonly tmux?: string;
  /** Environment of the tmux processes started; default this process's own. */
  readonly env?: NodeJS.ProcessEnv;
}

export interface RunOptions {
  readonly signal?: AbortSignal;
  /** Default 30 s. */
  readonly timeoutMs?: number;
}

/** One tmux command as an engine takes it. */
export interface Command {
  readonly argv: readonly string[];
  /** Reads may be sent again after a lost connection; nothing else ever is. */
  readonly effect?: 'read' | 'write' | 'destructive';
  /** Must not hold up other commands, or uses standard output: run it in a tmux process of its own. */
  readonly ownProcess?: boolean;
}

/**
 * Carries commands to a tmux server. Engines differ in cost, never in answers: what tmux refuses is a Reply;
 * only a missing binary, a lost connection, a timeout or an abort is an error (TmuxError).
 */
export interface Engine {
  readonly name: string;
  /** Calls made without awaiting are executed in the order they were made. */
  readonly ordered: boolean;
  version(): Promise<TmuxVersion>;
  run(command: Command, options?: RunOptions): Promise<Reply>;
  /** One `;` line: stops at the first failure, and says exactly which command that was. */
  runChain(commands: readonly Command[], options?: RunOptions): Promise<readonly Reply[]>;
  close(): Promise<void>;
}

/**
 * Runs one operation and reads its answer.
 *
 * @example (await execute(engine, newSession({ name: 'work' }))).unwrap().sessionId
 */
export async function execute<P, V>(
  engine: Engine,
  operation: Operation<P, V>,
  options?: RunOptions,
): Promise<Result<V>> {
  requireEngine(engine);
  requireOperation(operation as Operation);
  const guard = operation.spec.result.guarded ? newGuard() : shownGuard;
  const argv = operation.render(await engine.version(), guard);
  return toResult(operation, argv, guard, await engine.run(commandFor(operation, argv), options));
}

/**
 * Runs operations on one `;` line; those after a failure are skipped.
 *
 * @example
 * const results = await executeChain(engine, [renameWindow({ target: '@1', name: 'a' }), killPane({ target: '%999' })]);
 * results.map((result) => result.status); // ['complete', 'failed']
 */
export async function executeChain(
  engine: Engine,
  operations: readonly Operation[],
  options?: RunOptions,
): Promise<readonly Result[]> {
  requireEngine(engine);
  for (const operation of operations) requireOperation(operation);
  const guard = newGuard();
  const version = await engine.version();
  const lines = operations.map((operation) => operation.render(version, guard));
  const commands = operations.map((operation, i) => commandFor(operation, lines[i] ?? []));
  const replies = await engine.runChain(commands, options);
  return operations.map((operation, i) =>
    toResult(operation, lines[i] ?? null, guard, replies[i] ?? skippedReply),
  );
}

function commandFor<P, V>(operation: Operation<P, V>, argv: readonly string[]): Command {
  const { effect, ownProcess } = operation.spec;
  return { argv, effect, ...(ownProcess && { ownProcess }) };
}

function toResult<P, V>(
  operation: Operation<P, V>,
  argv: readonly string[] | null,
  guard: string,
  reply: Reply,
): Result<V> {
  const { result } = operation.spec;
  const refusal = reply.status === 'complete' ? result.refused?.(reply) : undefined;
  if (refusal)
    return new Result(
      operation as Operation<unknown, V>,
      argv,
      { status: 'failed', stdout: '', stderr: refusal },
      null,
    );
  const answered =
    reply.status === 'complete' || (reply.status === 'failed' && result.answersFailure?.(reply) === true);
  const value = answered
    ? result.read(reply, { params: operation.params as Record<string, unknown>, guard })
    : null;
  const status = answered ? 'complete' : reply.status;
  return new Result(operation as Operation<unknown, V>, argv, { ...reply, status }, value);
}
