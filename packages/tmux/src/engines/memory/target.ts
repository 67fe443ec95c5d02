import { CommandFailure } from './command.ts';
import type { Cell, Place } from './layout.ts';
import type { Link, MemoryServer, Pane, Session, Window } from './server.ts';

/** What a target names: always a whole path, down to a pane. */
export interface Found {
  readonly session: Session;
  readonly link: Link;
  readonly window: Window;
  readonly pane: Pane;
}

export type Kind = 'session' | 'window' | 'pane';

/** tmux's names of places, and the marks it turns them into, which its messages show. */
const windowMarks: Readonly<Record<string, string>> = {
  '{start}': '^', '{end}': '$', '{last}': '!', '{next}': '+', '{previous}': '-',
}; // biome-ignore format: a table
const paneMarks: Readonly<Record<string, string>> = {
  '{active}': '@', '{last}': '!', '{next}': '+', '{previous}': '-',
}; // biome-ignore format: a table

/** Finds what `-t` or `-s` names; without one, the place a client nobody is attached with would be in. */
export function find(server: MemoryServer, kind: Kind, target: string | undefined): Found {
  if (target === undefined || target === '') return whole(latestSession(server));
  if (target === '{marked}' || target === '~') return markedPlace(server);
  const { session, window, pane } = divide(target, kind);
  if (session === undefined && window === undefined && pane?.startsWith('%')) return byPane(server, pane);
  const at = findLink(server, session, window);
  return pane === undefined
    ? whole(at.session, at)
    : whole(at.session, at, findPane(server, at.window, pane));
}

/** Where a new window goes: a session, and an index that may be free, or none. */
export function findIndex(
  server: MemoryServer,
  target: string | undefined,
): { session: Session; index: number | null; link: Link | null } {
  const { session, window } = target ? divide(target, 'window') : { session: undefined, window: undefined };
  const taken = (link: Link): { session: Session; index: number; link: Link } => ({
    session: link.session,
    index: link.index,
    link,
  });
  if (window === undefined) {
    const found = session === undefined ? latestSession(server) : findSession(server, session);
    return { session: found, index: null, link: found.current };
  }
  if (/^\d+$/.test(window)) {
    const found = session === undefined ? latestSession(server) : findSession(server, session);
    const link = found.links.find((one) => one.index === Number(window));
    return link ? taken(link) : { session: found, index: Number(window), link: null };
  }
  return taken(findLink(server, session, window));
}

/** Splits `session:window.pane`; a word without either mark is of the kind asked for, unless it is an id. */
function divide(
  target: string,
  kind: Kind,
): { session?: string | undefined; window?: string | undefined; pane?: string | undefined } {
  const colon = target.indexOf(':');
  const rest = target.slice(colon + 1);
  const dot = rest.indexOf('.');
  const word = (text: string): string | undefined => (text === '' ? undefined : text);
  if (colon >= 0) {
    const window = dot < 0 ? rest : rest.slice(0, dot);
    return {
      session: word(target.slice(0, colon)),
      window: word(window),
      pane: dot < 0 ? undefined : word(rest.slice(dot + 1)),
    };
  }
  if (dot >= 0) return { window: word(rest.slice(0, dot)), pane: word(rest.slice(dot + 1)) };
  const idKinds: Readonly<Record<string, Kind>> = { $: 'session', '@': 'window', '%': 'pane' };
  const named = /^[$@%]\d/.test(target) ? idKinds[target[0] ?? ''] : kind;
  if (named === 'pane' && !target.startsWith('%')) {
    // A word for a pane may be an index of one here, or a window, or a session.
    return /^(\d+|[!+-]|\{.*\})$/.test(target) ? { pane: target } : { session: target };
  }
  return { [named ?? kind]: target };
}

function whole(session: Session, link: Link = session.current, pane: Pane = link.window.active): Found {
  return { session, link, window: link.window, pane };
}

function latestSession(server: MemoryServer): Session {
  const session = server.sessions.at(-1);
  if (!session) throw new CommandFailure('no current session');
  return session;
}

function markedPlace(server: MemoryServer): Found {
  const { marked } = server;
  if (!marked) throw new CommandFailure('no marked target');
  return byPane(server, `%${marked.id}`);
}

function byPane(server: MemoryServer, id: string): Found {
  const pane = server.panes.find((one) => `%${one.id}` === id);
  const link = pane && bestLink(server.linksOf(pane.window));
  if (!pane || !link) throw new CommandFailure(`can't find pane: ${id}`);
  return whole(link.session, link, pane);
}

/** Of several places of one window, the one in the newest session, and there the current one. */
function bestLink(links: readonly Link[]): Link | undefined {
  const session = links.at(-1)?.session;
  const inSession = links.filter((link) => link.session === session);
  return inSession.find((link) => link.session.current === link) ?? inSession[0];
}

function findSession(server: MemoryServer, target: string): Session {
  const exactly = target.startsWith('=');
  const name = exactly ? target.slice(1) : target;
  const byId = /^\$\d+$/.test(name) ? server.sessions.find((one) => `$${one.id}` === name) : undefined;
  const byName = server.sessions.find((one) => one.name === name);
  const found =
    byId ?? byName ?? (exactly ? undefined : onlyOne(server.sessions, (one) => one.name.startsWith(name)));
  if (!found) throw new CommandFailure(`can't find session: ${name}`);
  return found;
}

function findLink(server: MemoryServer, sessionTarget: string | undefined, window: string | undefined): Link {
  if (window === undefined)
    return (sessionTarget === undefined ? latestSession(server) : findSession(server, sessionTarget)).current;
  const session = sessionTarget === undefined ? undefined : findSession(server, sessionTarget);
  const exactly = window.startsWith('=');
  const name = windowMarks[window] ?? (exactly ? window.slice(1) : window);
  const links = session ? session.links : server.sessions.flatMap((one) => one.links);
  const found = /^@\d+$/.test(name)
    ? bestLink(links.filter((link) => `@${link.window.id}` === name))
    : byMark(session ?? latestSession(server), name, exactly);
  if (!found) throw new CommandFailure(`can't find window: ${name}`);
  return found;
}

function byMark(session: Session, name: string, exactly: boolean): Link | undefined {
  const { links, current } = session;
  const step = (by: number): Link | undefined => links.at((links.indexOf(current) + by) % links.length);
  const marks: Readonly<Record<string, () => Link | undefined>> = {
    '^': () => links[0],
    $: () => links.at(-1),
    '!': () => session.lastLinks[0],
    '+': () => step(1),
    '-': () => step(-1),
  };
  const marked = marks[name];
  if (marked) return marked();
  const byIndex = /^\d+$/.test(name) ? links.find((link) => link.index === Number(name)) : undefined;
  const named = onlyOne(links, (link) => link.window.name === name);
  return (
    byIndex ?? named ?? (exactly ? undefined : onlyOne(links, (link) => link.window.name.startsWith(name)))
  );
}

function findPane(server: MemoryServer, window: Window, target: string): Pane {
  const { panes, active } = window;
  const name = paneMarks[target] ?? target;
  const step = (by: number): Pane | undefined => panes.at((panes.indexOf(active) + by) % panes.length);
  const marks: Readonly<Record<string, () => Pane | undefined>> = {
    '@': () => active,
    '!': () => window.lastPanes[0],
    '+': () => step(1),
    '-': () => step(-1),
  };
  const found = marks[name]
    ? marks[name]()
    : /^\d+$/.test(name)
      ? panes[Number(name) - server.paneBaseIndex(window)]
      : /^%\d+$/.test(name)
        ? panes.find((pane) => `%${pane.id}` === name)
        : byPlace(server, window, name);
  if (!found)
    throw new CommandFailure(
      `can't find pane: ${/^\{.*-of\}$/.test(name) ? name : name.replace(/[{}]/g, '')}`,
    );
  return found;
}

const edges: Readonly<Record<string, (place: Place) => number>> = {
  top: ({ top }) => -top,
  bottom: ({ top, height }) => top + height,
  left: ({ left }) => -left,
  right: ({ left, width }) => left + width,
};

/** Whether `other` touches `place` on the named side; beyond the edge of the window it goes on at the opposite one. */
const sides: Readonly<Record<string, (place: Place, other: Place, window: Cell) => boolean>> = {
  'up-of': (place, other, { height }) =>
    other.top + other.height + 1 === (place.top || height + 1) && sharesColumn(place, other),
  'down-of': (place, other, { height }) =>
    other.top === (place.top + place.height + 1) % (height + 1) && sharesColumn(place, other),
  'left-of': (place, other, { width }) =>
    other.left + other.width + 1 === (place.left || width + 1) && sharesLine(place, other),
  'right-of': (place, other, { width }) =>
    other.left === (place.left + place.width + 1) % (width + 1) && sharesLine(place, other),
};

function sharesColumn(place: Place, other: Place): boolean {
  return other.left <= place.left + place.width && other.left + other.width > place.left;
}

function sharesLine(place: Place, other: Place): boolean {
  return other.top <= place.top + place.height && other.top + other.height > place.top;
}

/** `{top-left}` by its corner of the window, `{left-of}` by what touches the active pane there. */
function byPlace(server: MemoryServer, window: Window, name: string): Pane | undefined {
  const word = name.replace(/[{}]/g, '');
  if (word.endsWith('-of')) return besidePane(server, window.active, word);
  const wanted = word.split('-').map((edge) => edges[edge]);
  if (wanted.length === 0 || wanted.includes(undefined)) return undefined;
  const score = (pane: Pane): number =>
    wanted.reduce((sum, edge) => sum + (edge?.(server.placeOf(pane)) ?? 0), 0);
  return window.panes.reduce((best, pane) => (score(pane) > score(best) ? pane : best));
}

/** The pane on a side (`left-of`) of another: of several, the one that was active last. */
export function besidePane(server: MemoryServer, pane: Pane, side: string): Pane | undefined {
  const { window } = pane;
  const place = server.placeOf(pane);
  const touching = window.panes.filter(
    (other) => other !== pane && sides[side]?.(place, server.placeOf(other), window.layout),
  );
  return window.lastPanes.find((other) => touching.includes(other)) ?? touching[0];
}

function onlyOne<T>(values: readonly T[], matches: (value: T) => boolean): T | undefined {
  const found = values.filter(matches);
  return found.length === 1 ? found[0] : undefined;
}
