import { TmuxError } from '../errors.ts';
import type { CreatedSession } from '../operation/outcome.ts';
import { exact, type SessionId } from '../operation/target.ts';
import type { TmuxVersion } from '../operation/version.ts';
import { killWindow } from '../operations/kill-window.ts';
import { moveWindow } from '../operations/move-window.ts';
import { newSession } from '../operations/new-session.ts';
import { renameSession } from '../operations/rename-session.ts';
import { selectWindow } from '../operations/select-window.ts';
import { setEnvironment } from '../operations/set-environment.ts';
import { setOption } from '../operations/set-option.ts';
import { Plan } from '../plan/plan.ts';
import { openFloats } from './compile-floats.ts';
import { type CompiledWindow, fillWindow, openWindow, type SlotOf } from './compile-window.ts';
import { isWindowOption } from './window-options.ts';
import type {
  OnExists,
  Size,
  Variables,
  Workspace,
  WorkspaceSession,
  WorkspaceWarning,
} from './workspace.ts';

export interface CompileOptions {
  readonly version: TmuxVersion;
  /** The sessions there are, by name. */
  readonly existing?: ReadonlyMap<string, SessionId>;
  /** Instead of what the file says. */
  readonly onExists?: OnExists;
  /** For sessions whose file names no dimensions. */
  readonly size?: Size;
}

/** How one session comes to be: from the plan, or because it is there and is reused. */
export type CompiledSession = { readonly session: WorkspaceSession } & (
  | { readonly action: 'reuse'; readonly id: SessionId }
  | {
      readonly action: 'create' | 'replace';
      readonly slot: SlotOf<CreatedSession>;
      readonly windows: readonly CompiledWindow[];
      /** The session of this name before; the plan renames it, and whoever runs the plan kills it when all is built. */
      readonly replaced?: SessionId;
    }
);

export interface CompiledWorkspace {
  readonly plan: Plan;
  readonly sessions: readonly CompiledSession[];
  readonly warnings: readonly WorkspaceWarning[];
}

/** Where the window that only keeps the session alive waits, out of the way of every other. */
const lastIndex = 2 ** 31 - 1;
/** What runs in that window; a session that has it is half-built. */
export const waiting = 'exec cat';

/**
 * Writes a workspace as a plan. Scripts come first, so that nothing has been touched when one fails; sessions that are
 * replaced then make way under another name, and live until everything is built.
 *
 * @example
 * const { workspace } = await readWorkspace('dev.yaml');
 * compileWorkspace(workspace, { version: parseVersion('3.4') }).plan.preview('3.4');
 */
export function compileWorkspace(workspace: Workspace, options: CompileOptions): CompiledWorkspace {
  const { existing, version, size } = options;
  const todo = workspace.sessions.map((session) => {
    const id = existing?.get(session.name);
    const onExists = id === undefined ? undefined : (options.onExists ?? session.onExists);
    if (onExists === 'error') {
      const message = `There is a session named ${JSON.stringify(session.name)} already (${id}).`;
      throw new TmuxError('workspace_exists', message, { session: session.name, id });
    }
    return { session, id, reuse: onExists === 'reuse' };
  });
  const plan = new Plan();
  for (const { session, reuse } of todo) {
    if (!session.beforeScript || reuse) continue;
    const { command, cwd } = session.beforeScript;
    plan.host({ type: 'script', command, cwd });
  }
  for (const { session, id, reuse } of todo) {
    if (id === undefined || reuse) continue;
    plan.add(renameSession({ target: id, name: `${session.name}-replaced-${id.slice(1)}` }));
  }
  const warnings: WorkspaceWarning[] = [];
  const sessions = todo.map(({ session, id, reuse }): CompiledSession => {
    if (reuse && id !== undefined) return { session, action: 'reuse', id };
    const slot = openSession(plan, { size, ...session });
    const floated = openFloats(plan, session, fillSession(plan, session, slot), version);
    warnings.push(...floated.warnings);
    const focused = floated.windows.findLast(({ window }) => window.focus);
    if (focused) plan.add(selectWindow({ target: focused.slot.self }));
    const built = { session, slot, windows: floated.windows };
    return id === undefined ? { ...built, action: 'create' } : { ...built, action: 'replace', replaced: id };
  });
  return { plan, sessions, warnings };
}

/**
 * A session starts with a window that only waits: options and variables must be set before the first real process
 * starts, and what one window declares must not become the session's.
 */
function openSession(
  plan: Plan,
  session: WorkspaceSession & { readonly size?: Size | undefined },
): SlotOf<CreatedSession> {
  const { name, startDirectory, size } = session;
  const slot = plan.add(newSession({ name, startDirectory, ...size, shell: waiting }));
  plan.add(moveWindow({ source: slot.window, target: exact(name, lastIndex) }));
  for (const [option, value] of Object.entries(session.options)) {
    if (!isWindowOption(option)) plan.add(setOption({ target: slot.self, option, value }));
  }
  for (const [option, value] of Object.entries(session.globalOptions))
    plan.add(setOption({ global: true, option, value }));
  for (const [variable, value] of Object.entries(session.environment)) {
    plan.add(setEnvironment({ target: slot.self, name: variable, value }));
  }
  return slot;
}

function fillSession(
  plan: Plan,
  session: WorkspaceSession,
  slot: SlotOf<CreatedSession>,
): readonly CompiledWindow[] {
  const shared: Variables = Object.fromEntries(
    Object.entries(session.options).filter(([option]) => isWindowOption(option)),
  );
  return session.windows.map((declared, i) => {
    const window = { ...declared, options: { ...shared, ...declared.options } };
    const target = window.index === undefined ? slot.self : exact(session.name, window.index);
    const opened = openWindow(plan, window, target);
    if (i === 0) plan.add(killWindow({ target: slot.window }));
    return fillWindow(plan, window, opened, session.waitPane);
  });
}
