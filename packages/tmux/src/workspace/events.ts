import type { PaneId, SessionId, WindowId } from '../operation/target.ts';
import type { Bindings } from '../plan/slot.ts';
import type { CompiledSession } from './compile.ts';
import type { CompiledWindow } from './compile-window.ts';

export interface LoadedSession {
  readonly name: string;
  readonly id: SessionId;
  readonly action: CompiledSession['action'];
  readonly windows: readonly LoadedWindow[];
}

export interface LoadedWindow {
  readonly id: WindowId;
  readonly name: string | undefined;
  readonly panes: readonly PaneId[];
}

interface WindowCreated {
  readonly type: 'windowCreated';
  readonly session: string;
  readonly window: number;
  readonly name: string | undefined;
  readonly windowId: WindowId;
}
interface PaneCreated {
  readonly type: 'paneCreated';
  readonly session: string;
  readonly window: number;
  readonly pane: number;
  readonly paneId: PaneId;
}

/** Told while a workspace is built, in this order; indexes count from 0 as in the file. */
export type WorkspaceEvent =
  | { readonly type: 'sessionCreated'; readonly session: string; readonly sessionId: SessionId }
  | WindowCreated
  | PaneCreated
  | { readonly type: 'built'; readonly sessions: readonly LoadedSession[] };

type Telling = (ids: Bindings) => readonly WorkspaceEvent[];

/** What the end of a step is told as, by the index of the step. */
export function eventsOf(sessions: readonly CompiledSession[]): ReadonlyMap<number, Telling> {
  return new Map(
    sessions.flatMap((compiled): [number, Telling][] => {
      if (compiled.action === 'reuse') return [];
      const session = compiled.session.name;
      const { index } = compiled.slot;
      const created: Telling = (ids) => [
        { type: 'sessionCreated', session, sessionId: ids[`${index}:self`] as SessionId },
      ];
      return [
        [index, created],
        ...compiled.windows.flatMap((window, i) => eventsOfWindow(session, window, i)),
      ];
    }),
  );
}

/** A window comes with its first pane. */
function eventsOfWindow(session: string, compiled: CompiledWindow, window: number): [number, Telling][] {
  const { slot, panes } = compiled;
  const { name } = compiled.window;
  return panes.map(({ slot: step }, pane) => [
    step,
    (ids) => {
      const paneCreated: PaneCreated = {
        type: 'paneCreated',
        session,
        window,
        pane,
        paneId: ids[`${step}:pane`] as PaneId,
      };
      if (pane > 0) return [paneCreated];
      return [
        { type: 'windowCreated', session, window, name, windowId: ids[`${slot.index}:self`] as WindowId },
        paneCreated,
      ];
    },
  ]);
}
