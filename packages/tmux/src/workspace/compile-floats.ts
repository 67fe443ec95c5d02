import { TmuxError } from '../errors.ts';
import { atLeast, type TmuxVersion } from '../operation/version.ts';
import { newPane } from '../operations/new-pane.ts';
import { selectPane } from '../operations/select-pane.ts';
import type { Plan } from '../plan/plan.ts';
import { type CompiledWindow, type PaneRef, processOf, typeInto } from './compile-window.ts';
import type { WorkspaceSession, WorkspaceWarning } from './workspace.ts';

/** Opens the floats of a session once all its windows are there, because a float may name any of them. */
export function openFloats(
  plan: Plan,
  session: WorkspaceSession,
  windows: readonly CompiledWindow[],
  version: TmuxVersion,
): { readonly windows: readonly CompiledWindow[]; readonly warnings: readonly WorkspaceWarning[] } {
  const opened = new Map<CompiledWindow, PaneRef[]>(windows.map((window) => [window, []]));
  const warnings: WorkspaceWarning[] = [];
  for (const [i, own] of windows.entries()) {
    for (const [j, float] of own.window.floats.entries()) {
      const path = `windows[${i}].floats[${j}]`;
      const host =
        float.attachTo === undefined ? own : windows.find(({ window }) => window.name === float.attachTo);
      if (!host) {
        const message = `${session.name}: ${path}.attach_to names no window of this session: ${JSON.stringify(float.attachTo)}.`;
        throw new TmuxError('invalid_workspace', message, { path, attachTo: float.attachTo });
      }
      if (!atLeast(version, '3.7')) {
        const message = `${path}: has no effect: floating panes need tmux 3.7; this server is ${version.text}.`;
        warnings.push({ code: 'unsupported_key', path, message });
        continue;
      }
      const { pane } = plan.add(newPane({ target: host.slot.pane, ...float.shape, ...processOf(float) }));
      opened.get(host)?.push(pane);
      typeInto(plan, float, pane, session.waitPane);
      if (float.focus) plan.add(selectPane({ target: pane }));
    }
  }
  return {
    windows: windows.map((window) => ({
      ...window,
      panes: [...window.panes, ...(opened.get(window) ?? [])],
    })),
    warnings,
  };
}
