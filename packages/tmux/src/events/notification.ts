import { decode } from '../engines/control/lines.ts';
import type { PaneId, SessionId, WindowId } from '../operation/target.ts';
import type { TmuxEvent, TmuxEvents, TmuxEventType } from './event.ts';

type Fields<K extends TmuxEventType> = (words: string[], rest: string) => TmuxEvents[K];

const pane = (words: string[]): { paneId: PaneId } => ({ paneId: words[0] as PaneId });
const window = (words: string[]): { windowId: WindowId } => ({ windowId: words[0] as WindowId });
const after = (rest: string, words: number): string => {
  let from = 0;
  for (let i = 0; i < words; i++) from = rest.indexOf(' ', from) + 1;
  return decode(rest.slice(from));
};
const renamed = (words: string[], rest: string): { windowId: WindowId; name: string } => ({
  ...window(words),
  name: after(rest, 1),
});
const named = (_: string[], rest: string): { name: string } => ({ name: decode(rest) });
const text = (_: string[], rest: string): { text: string } => ({ text: decode(rest) });
/** tmux writes "-" where a subscription has no such part. */
const part = <T>(word: string | undefined): T | null =>
  word === undefined || word === '-' ? null : (word as T);

/** How each notification is read: its words, and the whole text for what may hold spaces. */
const notifications: { readonly [K in TmuxEventType]?: Fields<K> } = {
  output: ([paneId], rest) => ({
    paneId: paneId as PaneId,
    data: unescapeOutput(rest.slice(rest.indexOf(' ') + 1)),
    ageMs: 0,
  }),
  pause: pane,
  continue: pane,
  exit: (_, rest) => ({ reason: decode(rest) }),
  message: text,
  'config-error': text,
  'layout-change': ([windowId, layout = '', visibleLayout = layout, flags = '']) => ({
    windowId: windowId as WindowId,
    layout,
    visibleLayout,
    flags,
  }),
  'pane-mode-changed': pane,
  'window-add': window,
  'window-close': window,
  'window-renamed': renamed,
  'window-pane-changed': ([windowId, paneId]) => ({
    windowId: windowId as WindowId,
    paneId: paneId as PaneId,
  }),
  'unlinked-window-add': window,
  'unlinked-window-close': window,
  'unlinked-window-renamed': renamed,
  'session-changed': ([sessionId], rest) => ({ sessionId: sessionId as SessionId, name: after(rest, 1) }),
  // Before 3.4 only the name is given.
  'session-renamed': ([id], rest) =>
    /^\$\d+$/.test(id ?? '')
      ? { sessionId: id as SessionId, name: after(rest, 1) }
      : { sessionId: null, name: decode(rest) },
  'session-window-changed': ([sessionId, windowId]) => ({
    sessionId: sessionId as SessionId,
    windowId: windowId as WindowId,
  }),
  'sessions-changed': () => ({}),
  'client-detached': (_, rest) => ({ client: decode(rest) }),
  'client-session-changed': ([client = '', sessionId], rest) => ({
    client,
    sessionId: sessionId as SessionId,
    name: after(rest, 2),
  }),
  'paste-buffer-changed': named,
  'paste-buffer-deleted': named,
  'subscription-changed': ([name = '', session, windowId, index, paneId], rest) => ({
    name,
    sessionId: part<SessionId>(session),
    windowId: part<WindowId>(windowId),
    windowIndex: part(index) === null ? null : Number(index),
    paneId: part<PaneId>(paneId),
    value: decode(rest.slice(rest.indexOf(' : ') + 3)),
  }),
};

/** The type a `%name …` line announces; extended output is output. */
export function typeOf(line: string): TmuxEventType {
  const space = line.indexOf(' ');
  const name = line.slice(1, space < 0 ? undefined : space);
  if (name === 'extended-output') return 'output';
  return Object.hasOwn(notifications, name) ? (name as TmuxEventType) : 'unknown';
}

/** Reads one `%…` line. What this library does not know is `unknown`, never an error. */
export function parseNotification(line: string): TmuxEvent {
  const type = typeOf(line);
  const space = line.indexOf(' ');
  const rest = space < 0 ? '' : line.slice(space + 1);
  if (line.startsWith('%extended-output ')) return extendedOutput(rest);
  const read = notifications[type];
  if (!read) return { type: 'unknown', line: decode(line) };
  return {
    type,
    ...read(type === 'output' ? [rest.slice(0, rest.indexOf(' '))] : rest.split(' '), rest),
  } as TmuxEvent;
}

/** `%P AGE … : data`; fields added by newer releases before the colon are passed over. */
function extendedOutput(rest: string): TmuxEvent {
  const colon = rest.indexOf(' : ');
  const [paneId, age] = rest.slice(0, colon).split(' ');
  return {
    type: 'output',
    paneId: paneId as PaneId,
    data: unescapeOutput(rest.slice(colon + 3)),
    ageMs: Number(age),
  };
}

/** The bytes of a pane: tmux writes those below 0x20 and the backslash as three octal digits, all others raw. */
function unescapeOutput(escaped: string): Uint8Array {
  let slash = escaped.indexOf('\\');
  if (slash < 0) return Buffer.from(escaped, 'latin1');
  let bytes = '';
  let from = 0;
  for (; slash >= 0; slash = escaped.indexOf('\\', from)) {
    bytes +=
      escaped.slice(from, slash) +
      String.fromCharCode(Number.parseInt(escaped.slice(slash + 1, slash + 4), 8));
    from = slash + 4;
  }
  return Buffer.from(bytes + escaped.slice(from), 'latin1');
}
