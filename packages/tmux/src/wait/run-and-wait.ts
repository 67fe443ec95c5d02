import * as z from 'zod';
import { execute } from '../engine.ts';
import { readGiven } from '../operation/given.ts';
import { absolutePath } from '../operation/param.ts';
import { type Target, targetSchema } from '../operation/target.ts';
import { killPane, newWindow, respawnPane, setOption } from '../operations/index.ts';
import type { Tmux } from './output-source.ts';
import { type WaitOptions, type WaitResult, waitForOutput, waitSchema } from './wait-for-output.ts';

export interface RunAndWaitOptions
  extends Omit<WaitOptions, 'send' | 'source' | 'settleMs' | 'whileRunning'> {
  /** The session the command's window goes to. */
  readonly target: Target;
  readonly startDirectory?: string;
  readonly environment?: Readonly<Record<string, string>>;
  /** Leave the window and what it shows; otherwise it is closed when the wait is over. */
  readonly keep?: boolean;
}

const commandSchema = z.string().min(1);
const optionsSchema = waitSchema
  .omit({ send: true, source: true, settleMs: true, whileRunning: true })
  .extend({
    target: targetSchema,
    startDirectory: absolutePath.optional(),
    environment: z.record(z.string(), z.string()).optional(),
    keep: z.boolean().optional(),
  });

/**
 * Runs a shell command in a window of its own and waits for its end; answers all it printed and how it ended.
 *
 * @example (await runAndWait(server, 'exit 7', { target: exact('demo') })).exit // { status: 7, signal: null }
 */
export async function runAndWait(
  tmux: Tmux,
  command: string,
  options: RunAndWaitOptions,
): Promise<WaitResult> {
  readGiven(commandSchema, command, 'runAndWait: the command');
  readGiven(optionsSchema, options, 'runAndWait');
  const { target, startDirectory, environment, keep, ...waiting } = options;
  const { engine } = tmux;
  // The window waits for us first: by the time the command starts, its pane is kept after its end and listened to.
  const placeholder = await execute(
    engine,
    newWindow({ target, shell: 'exec cat', ...(startDirectory && { startDirectory }) }),
  );
  const { paneId } = placeholder.unwrap();
  try {
    const keepDead = setOption({ target: paneId, pane: true, option: 'remain-on-exit', value: 'on' });
    const start = respawnPane({
      target: paneId,
      kill: true,
      shell: lingering(command),
      ...(environment && { environment }),
    });
    (await execute(engine, keepDead)).unwrap();
    const send = async (): Promise<unknown> => (await execute(engine, start)).unwrap();
    return await waitForOutput(tmux, paneId, { ...waiting, send });
  } finally {
    // A window that cannot be closed is less than the answer, or the error, that is on its way.
    if (!keep) await execute(engine, killPane({ target: paneId })).catch(() => undefined);
  }
}

/**
 * tmux frees a pane as soon as its process has ended, and what the kernel has not yet passed on from the terminal is
 * lost with it. So the user's shell runs the command under one that lingers a moment, and ends the way it ended.
 */
function lingering(command: string): string {
  const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;
  const script = '"$SHELL" -c "$1"; s=$?; sleep 0.1; [ $s -gt 128 ] && kill -$((s - 128)) $$; exit $s';
  return `exec /bin/sh -c ${quoted(script)} sh ${quoted(command)}`;
}
