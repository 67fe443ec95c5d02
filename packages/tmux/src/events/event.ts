import type { PaneId, SessionId, WindowId } from '../operation/target.ts';

/** What each kind of event carries: tmux's notifications, and four of our own about the stream itself. */
export interface TmuxEvents {
  output: {
    readonly paneId: PaneId;
    readonly data: Uint8Array /** How long tmux held it back. */;
    readonly ageMs: number;
  };
  pause: { readonly paneId: PaneId };
  continue: { readonly paneId: PaneId };
  exit: { readonly reason: string };
  message: { readonly text: string };
  'config-error': { readonly text: string };
  'layout-change': {
    readonly windowId: WindowId;
    readonly layout: string;
    readonly visibleLayout: string;
    readonly flags: string;
  };
  'pane-mode-changed': { readonly paneId: PaneId };
  'window-add': { readonly windowId: WindowId };
  'window-close': { readonly windowId: WindowId };
  'window-renamed': { readonly windowId: WindowId; readonly name: string };
  'window-pane-changed': { readonly windowId: WindowId; readonly paneId: PaneId };
  'unlinked-window-add': { readonly windowId: WindowId };
  'unlinked-window-close': { readonly windowId: WindowId };
  'unlinked-window-renamed': { readonly windowId: WindowId; readonly name: string };
  'session-changed': { readonly sessionId: SessionId; readonly name: string };
  'session-renamed': { readonly sessionId: SessionId | null; readonly name: string };
  'session-window-changed': { readonly sessionId: SessionId; readonly windowId: WindowId };
  'sessions-changed': object;
  'client-detached': { readonly client: string };
  'client-session-changed': { readonly client: string; readonly sessionId: SessionId; readonly name: string };
  'paste-buffer-changed': { readonly name: string };
  'paste-buffer-deleted': { readonly name: string };
  'subscription-changed': {
    readonly name: string;
    readonly sessionId: SessionId | null;
    readonly windowId: WindowId | null;
    readonly windowIndex: number | null;
    readonly paneId: PaneId | null;
    readonly value: string;
  };
  /** What a hook printed, or stray text: nobody asked for it. */
  unsolicited: { readonly lines: readonly string[]; readonly failed: boolean };
  /** A notification this library does not know. */
  unknown: { readonly line: string };
  /** Something was missed here: the reader was too slow, tmux dropped a pane's backlog, or the connection was lost. */
  gap: {
    readonly reason: 'overflow' | 'paused' | 'reconnected';
    readonly dropped: number;
    readonly paneId: PaneId | null;
  };
  connected: { readonly generation: number };
  disconnected: { readonly generation: number };
}

export type TmuxEventType = keyof TmuxEvents;
export type TmuxEvent = { [K in TmuxEventType]: { readonly type: K } & TmuxEvents[K] }[TmuxEventType];

const named: Readonly<Record<TmuxEventType, 1>> = {
  output: 1, pause: 1, continue: 1, exit: 1, message: 1, 'config-error': 1, 'layout-change': 1,
  'pane-mode-changed': 1, 'window-add': 1, 'window-close': 1, 'window-renamed': 1, 'window-pane-changed': 1,
  'unlinked-window-add': 1, 'unlinked-window-close': 1, 'unlinked-window-renamed': 1, 'session-changed': 1,
  'session-renamed': 1, 'session-window-changed': 1, 'sessions-changed': 1, 'client-detached': 1,
  'client-session-changed': 1, 'paste-buffer-changed': 1, 'paste-buffer-deleted': 1, 'subscription-changed':
  1, unsolicited: 1, unknown: 1, gap: 1, connected: 1, disconnected: 1,
}; // biome-ignore format: a list

/** The names of all of them, for whoever checks what was asked for. */
export const eventTypes: readonly TmuxEventType[] = Object.keys(named) as TmuxEventType[];
