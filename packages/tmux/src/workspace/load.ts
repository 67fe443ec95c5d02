import { setTimeout as sleep } from 'node:timers/promises';
import { type Engine, execute, type RunOptions } from '../engine.ts';
import { TmuxError } from '../errors.ts';
import { unquoteOption } from '../operation/options.ts';
import type { CreatedSession } from '../operation/outcome.ts';
import type { SessionId } from '../operation/target.ts';
import { killSession } from '../operations/kill-session.ts';
import { renameSession } from '../operations/rename-session.ts';
import type { HostRunner } from '../plan/host.ts';
import type { PlanResult, StepResult } from '../plan/plan-result.ts';
import type { Planner, PlannerName } from '../plan/planners.ts';
import type { Bindings } from '../plan/slot.ts';
import type { SessionSnapshot } from '../snapshot/snapshot.ts';
import { takeSnapshot } from '../snapshot/take-snapshot.ts';
import { waiting } from './compile.ts';
import { confirmWorkspace, type Difference } from './confirm.ts';
import { eventsOf, type LoadedSession, type WorkspaceEvent } from './events.ts';
import { type PlanOptions, planWorkspace, replacedBy, type WorkspacePlan } from './plan.ts';
import type { WorkspaceSource } from './read-file.ts';
import type { WorkspaceWarning } from './workspace.ts';

export interface LoadOptions extends PlanOptions, RunOptions {
  /** How operations go to the engine; default `pipelined` where the engine keeps their order, else `folding`. */
  readonly planner?: Planner | PlannerName;
  /** Who runs scripts, sleeps and waits; default this process. */
  readonly host?: HostRunner;
  readonly onEvent?: (event: WorkspaceEvent) => void;
  /** Looks at the server afterwards and compares it with the declaration. */
  readonly confirm?: boolean;
}

export interface LoadedWorkspace {
  readonly sessions: readonly LoadedSession[];
  readonly warnings: readonly WorkspaceWarning[];
  /** What is not as declared; only with `confirm`. */
  readonly differences?: readonly Difference[];
  readonly plan: WorkspacePlan;
  readonly result: PlanResult;
}

/**
 * Builds what a workspace declares. When anything fails, the sessions made so far are killed again and the first
 * failure is thrown; a session that was to be replaced is ended last, and has its name back after a failure.
 *
 * @example const { sessions } = await loadWorkspace(engine, 'dev.yaml', { onExists: 'reuse' });
 */
export async function loadWorkspace(
  engine: Engine,
  source: WorkspaceSource,
  options: LoadOptions = {},
): Promise<LoadedWorkspace> {
  const { signal, timeoutMs, host, onEvent, planner = engine.ordered ? 'pipelined' : 'folding' } = options;
  const plan = await planWorkspace(engine, source, options);
  const events = eventsOf(plan.sessions);
  const settled = new Map<number, StepResult>();
  const onStep = (step: StepResult, bindings: Bindings): void => {
    settled.set(step.index, step);
    if (step.status !== 'complete') return;
    for (const event of events.get(step.index)?.(bindings) ?? []) onEvent?.(event);
  };
  const run = {
    planner,
    onStep,
    ...(signal && { signal }),
    ...(timeoutMs !== undefined && { timeoutMs }),
    ...(host && { host }),
  };
  let loaded: LoadedWorkspace;
  try {
    const result = await plan.plan.execute(engine, run);
    if (result.failure) throw explain(plan, result);
    const sessions = await loadedSessions(engine, plan, result);
    const differences = options.confirm ? await settle(engine, plan, signal) : undefined;
    onEvent?.({ type: 'built', sessions });
    loaded = { sessions, warnings: plan.warnings, ...(differences && { differences }), plan, result };
  } catch (error) {
    try {
      await undo(engine, plan, settled);
    } catch {
      // What made the loading fail is the better error; a connection that is gone cannot clean up.
    }
    throw error;
  }
  // What tmux refuses here is a session that has ended by itself.
  for (const target of replacedBy(plan)) await execute(engine, killSession({ target }));
  return loaded;
}

async function loadedSessions(
  engine: Engine,
  plan: WorkspacePlan,
  result: PlanResult,
): Promise<readonly LoadedSession[]> {
  const reuses = plan.sessions.some(({ action }) => action === 'reuse');
  const live = reuses ? (await takeSnapshot(engine)).sessions : [];
  return plan.sessions.map((compiled) => {
    const { action } = compiled;
    const { name } = compiled.session;
    if (compiled.action === 'reuse') {
      const windows = live.find(({ id }) => id === compiled.id)?.windows ?? [];
      const seen = windows.map((window) => ({
        id: window.id,
        name: window.name,
        panes: window.panes.map(({ id }) => id),
      }));
      return { name, id: compiled.id, action, windows: seen };
    }
    const windows = compiled.windows.map(({ window, slot, panes }) => ({
      id: result.id(slot.self),
      name: window.name,
      panes: panes.map((ref) => result.id(ref)),
    }));
    return { name, id: result.id(compiled.slot.self), action, windows };
  });
}

/** How long a new process may take to arrive in its folder. */
const settleMs = 2000;

/** Just after its birth tmux shows a process in no folder, or in the server's; such differences get time to pass. */
async function settle(
  engine: Engine,
  { workspace }: WorkspacePlan,
  signal?: AbortSignal,
): Promise<readonly Difference[]> {
  const until = performance.now() + settleMs;
  for (;;) {
    const differences = confirmWorkspace(workspace, await takeSnapshot(engine));
    if (differences.length === 0 || performance.now() >= until) return differences;
    await sleep(50, undefined, { signal });
  }
}

/** Kills what was made, also by a command that was never answered, and gives what was to be replaced its name back. */
async function undo(
  engine: Engine,
  { sessions }: WorkspacePlan,
  settled: ReadonlyMap<number, StepResult>,
): Promise<void> {
  const built = sessions.filter((compiled) => compiled.action !== 'reuse');
  const unsure = built.filter(({ slot }) => isUnsure(settled.get(slot.index)));
  const live = unsure.length > 0 ? (await takeSnapshot(engine)).sessions : [];
  const made = [
    ...built.flatMap(({ slot }) => createdBy(settled.get(slot.index))),
    ...unsure.flatMap(({ session, replaced }) =>
      live.filter((found) => found.name === session.name && found.id !== replaced && isHalfBuilt(found)),
    ),
  ];
  for (const { id } of made) await execute(engine, killSession({ target: id }));
  for (const { session, replaced } of built) {
    if (replaced) await execute(engine, renameSession({ target: replaced, name: session.name }));
  }
}

function createdBy(step: StepResult | undefined): readonly { readonly id: SessionId }[] {
  if (step?.type !== 'operation' || step.status !== 'complete') return [];
  return [{ id: (step.result.value as CreatedSession).sessionId }];
}

/** A client that was killed says nothing, whatever the server has made of its command. */
function isUnsure(step: StepResult | undefined): boolean {
  if (step?.type !== 'operation') return true;
  return step.status === 'unknown' || (step.status === 'failed' && step.result.stderr.length === 0);
}

function isHalfBuilt({ windows }: SessionSnapshot): boolean {
  return windows.some(({ panes }) => panes.some((pane) => unquoteOption(pane.startCommand) === waiting));
}

/** The failure of a step, with the window of the file it happened in. */
function explain({ sessions }: WorkspacePlan, result: PlanResult): TmuxError {
  const index = result.failure?.index ?? 0;
  const cause = causeOf(result);
  if (cause.code === 'script_failed' && cause.details.how === 127) {
    return new TmuxError(
      'invalid_workspace',
      `before_script names a command that does not exist. ${cause.message}`,
      cause.details,
      cause,
    );
  }
  const built = sessions
    .filter((compiled) => compiled.action !== 'reuse')
    .findLast(({ slot }) => slot.index <= index);
  if (!built) return cause;
  const { name } = built.session;
  if (built.slot.index === index && cause.message.includes('duplicate session')) {
    const message = `A session named ${JSON.stringify(name)} was made by somebody else just now.`;
    return new TmuxError('workspace_exists', message, { session: name }, cause);
  }
  const window = built.windows.findLastIndex(({ slot }) => slot.index <= index);
  const place = window < 0 ? JSON.stringify(name) : `${JSON.stringify(name)}, windows[${window}]`;
  return new TmuxError(
    cause.code,
    `Session ${place}: ${cause.message}`,
    { ...cause.details, session: name, window },
    cause,
  );
}

function causeOf(result: PlanResult): TmuxError {
  try {
    result.raiseForStatus();
  } catch (error) {
    if (error instanceof TmuxError) return error;
    return new TmuxError('command_failed', error instanceof Error ? error.message : String(error), {}, error);
  }
  return new TmuxError('unknown_outcome', 'The plan of the workspace did not finish.', { result });
}
