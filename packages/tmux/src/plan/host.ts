import { spawn } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { execute } from '../engine.ts';
import { TmuxError } from '../errors.ts';
import type { PaneId } from '../operation/target.ts';
import { displayMessage } from '../operations/display-message.ts';
import type { HostContext, HostStep, ScriptStep, WaitPaneStep } from './step.ts';

/** Carries out the host steps of a plan; what it throws is the failure of the step, what it answers the step's value. */
export type HostRunner = (step: HostStep, context: HostContext) => Promise<unknown>;

/**
 * Sleeps, runs scripts with `sh -c`, watches panes and calls functions, here in this process.
 *
 * @example
 * const plan = new Plan();
 * plan.host({ type: 'sleep', ms: 10 });
 * await plan.execute(engine, { host: (step, context) => runHostStep(step, context) });
 */
export const runHostStep: HostRunner = async (step, context) => {
  context.signal?.throwIfAborted();
  if (step.type === 'sleep') return sleep(step.ms, undefined, { signal: context.signal });
  if (step.type === 'script') return runScript(step, context.signal);
  if (step.type === 'wait_pane') return waitPane(step, context);
  return step.run(context);
};

interface ScriptOutput {
  readonly stdout: string;
  readonly stderr: string;
}

async function runScript({ command, cwd, env }: ScriptStep, signal?: AbortSignal): Promise<ScriptOutput> {
  // A group of its own, so that an abort ends what the script has started too.
  const child = spawn('sh', ['-c', command], {
    cwd,
    env: { ...process.env, ...env },
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const output = { stdout: '', stderr: '' };
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output.stdout += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    output.stderr += text;
  });
  const closed = new Promise<void>((resolve) => child.once('close', () => resolve()));
  const onAbort = (): void => killGroup(child.pid);
  signal?.addEventListener('abort', onAbort, { once: true });
  try {
    const how = await new Promise<number | NodeJS.Signals | null>((resolve, reject) => {
      child.once('error', reject);
      child.once('exit', (code, killedBy) => resolve(code ?? killedBy));
    }).catch((cause: unknown) => {
      throw new TmuxError(
        'script_failed',
        `The script did not start in ${cwd ?? process.cwd()}: ${command}`,
        { command, cwd },
        cause,
      );
    });
    // Something the script left running may hold its output open for ever; nobody waits for that.
    await Promise.race([closed, sleep(500, undefined, { ref: false })]);
    signal?.throwIfAborted();
    if (how === 0) return output;
    const said = output.stderr.trim() || output.stdout.trim() || 'it printed nothing';
    throw new TmuxError('script_failed', `The script ended with ${how}: ${command}\n${said}`, {
      command,
      cwd,
      how,
      ...output,
    });
  } finally {
    signal?.removeEventListener('abort', onAbort);
    child.stdout.destroy();
    child.stderr.destroy();
  }
}

function killGroup(pid: number | undefined): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // The group is gone already, which is what was wanted.
  }
}

const pollMs = 50;

/** A cursor that left the corner means that a shell has drawn its prompt. Silence up to the timeout is an answer too. */
async function waitPane(
  step: WaitPaneStep,
  { engine, signal }: HostContext,
): Promise<{ readonly ready: boolean }> {
  const look = displayMessage({
    target: step.target as PaneId,
    message: '#{pane_id} #{pane_dead} #{cursor_x},#{cursor_y}',
  });
  const until = performance.now() + step.timeoutMs;
  for (;;) {
    const { text } = (await execute(engine, look, signal && { signal })).unwrap();
    const [id, dead, cursor] = text.split(' ');
    if (id !== step.target)
      throw new TmuxError('command_failed', `can't find pane: ${step.target}`, { target: step.target });
    if (dead === '1') return { ready: false };
    if (cursor !== '0,0') return { ready: true };
    const left = until - performance.now();
    if (left <= 0) return { ready: false };
    await sleep(Math.min(pollMs, left), undefined, { signal });
  }
}
