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
