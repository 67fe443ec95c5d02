import { type Arguments, CommandFailure, type CommandTable } from './command.ts';
import { expand } from './format.ts';
import {
  type Axis,
  type Cell,
  renamePanes,
  resizePane,
  resizePaneTo,
  type Split,
  splitPane,
  splitWhole,
} from './layout.ts';
import { listRows, printed } from './list.ts';
import type { MemoryServer, Pane } from './server.ts';
import { besidePane, type Found, find } from './target.ts';

/** Stands in a layout for a pane that is on its way. */
const nobody = -1;

/** What -h, -b, -l and -f ask for, of the pane that is split. */
function splitOf(server: MemoryServer, args: Arguments, beside: Pane): Split {
  const axis: Axis = args.has('h') ? 'row' : 'column';
  const { width, height } = args.has('f') ? beside.window.layout : server.placeOf(beside);
  const whole = axis === 'row' ? width : height;
  const text = args.get('l');
  if (text !== undefined && !/^\d+%?$/.test(text)) throw new CommandFailure('size invalid');
  const size = text?.endsWith('%')
    ? Math.floor((whole * Number.parseInt(text, 10)) / 100)
    : text && Number(text);
  return { axis, pane: nobody, before: args.has('b'), ...(typeof size === 'number' && { size }) };
}

/** The layout with room for a new pane. */
function divided(server: MemoryServer, args: Arguments, beside: Pane): Cell {
  const { layout } = beside.window;
  const split = splitOf(server, args, beside);
  const made = args.has('f') ? splitWhole(layout, split) : splitPane(layout, beside.id, split);
  if (!made) throw new CommandFailure('no space for new pane');
  return made;
}

function splitWindow(server: MemoryServer, args: Arguments): string | undefined {
  const found = find(server, 'pane', args.get('t'));
  const { window } = found;
  const directory = args.get('c');
  window.zoomed = false;
  const layout = divided(server, args, found.pane);
  const pane = server.createPane({
    directory: directory && expand(directory, { server, ...found }),
    command: args.words.join(' ') || undefined,
  });
  window.layout = renamePanes(layout, (id) => (id === nobody ? pane.id : id));
  const beside = window.panes.indexOf(found.pane) + (args.has('b') ? 0 : 1);
  const edge = args.has('b') ? 0 : window.panes.length;
  window.panes = window.panes.toSpliced(args.has('f') ? edge : beside, 0, pane);
  pane.window = window;
  if (!args.has('d')) server.selectPane(pane);
  window.zoomed = args.has('Z');
  return printed(args, '#{session_name}:#{window_index}.#{pane_index}', { server, ...found, pane });
}

function joinPane(server: MemoryServer, args: Arguments): undefined {
  const source =
    args.has('s') || !server.marked ? find(server, 'pane', args.get('s')) : find(server, 'pane', '{marked}');
  const target = find(server, 'pane', args.get('t'));
  if (source.pane === target.pane) throw new CommandFailure('source and target panes must be different');
  const { pane } = source;
  const { window } = target;
  // Room is made before the pane leaves its place, which matters when both are in one window.
  window.layout = divided(server, args, target.pane);
  server.removePane(pane);
  window.layout = renamePanes(window.layout, (id) => (id === nobody ? pane.id : id));
  window.zoomed = false;
  window.panes = window.panes.toSpliced(window.panes.indexOf(target.pane) + (args.has('b') ? 0 : 1), 0, pane);
  pane.window = window;
  if (args.has('d')) return;
  server.selectPane(source.pane);
  server.select(target.link);
}

function swapPane(server: MemoryServer, args: Arguments): undefined {
  const { pane: to } = find(server, 'pane', args.get('t'));
  const neighbour = (by: number): Pane =>
    to.window.panes.at((to.window.panes.indexOf(to) + by) % to.window.panes.length) ?? to;
  const marked = server.marked && !args.has('s') ? '{marked}' : args.get('s');
  const from = args.has('D')
    ? neighbour(1)
    : args.has('U')
      ? neighbour(-1)
      : find(server, 'pane', marked).pane;
  if (from === to) return;
  const [here, there] = [from.window, to.window];
  const other = (pane: Pane): Pane => (pane === from ? to : pane === to ? from : pane);
  for (const window of new Set([here, there])) {
    window.zoomed = false;
    window.panes = window.panes.map(other);
    window.layout = renamePanes(window.layout, (id) =>
      id === from.id ? to.id : id === to.id ? from.id : id,
    );
  }
  [from.window, to.window] = [there, here];
  if (here === there && !args.has('d')) {
    server.selectPane(to);
    return;
  }
  // In one window both of these can hold, one after the other, as in tmux.
  if (!args.has('d') || here.active === from) server.selectPane(to);
  if (!args.has('d') || there.active === to) server.selectPane(from);
  for (const window of [here, there])
    window.lastPanes = window.lastPanes.filter((pane) => pane.window === window);
}

const sides: Readonly<Record<string, string>> = { L: 'left-of', R: 'right-of', U: 'up-of', D: 'down-of' };

function selectPane(server: MemoryServer, args: Arguments): undefined {
  const { pane, window } = find(server, 'pane', args.get('t'));
  const title = args.get('T');
  const side = Object.keys(sides).find((flag) => args.has(flag));
  if (args.has('l')) return lastPane(server, args);
  if (args.has('M')) server.marked = null;
  else if (args.has('m')) server.marked = server.marked === pane ? null : pane;
  else if (title !== undefined) pane.title = expand(title, { server, pane, window });
  else if (args.has('e') || args.has('d')) pane.inputOff = args.has('d');
  else if (!args.has('P')) {
    const chosen = side ? besidePane(server, pane, sides[side] ?? '') : pane;
    if (chosen && chosen !== window.active && !args.has('Z')) window.zoomed = false;
    if (chosen) server.selectPane(chosen);
  }
}

function lastPane(server: MemoryServer, args: Arguments): undefined {
  const { window } = find(server, 'window', args.get('t'));
  const last =
    window.lastPanes[0] ??
    (window.panes.length === 2 ? window.panes.find((pane) => pane !== window.active) : undefined);
  if (!last) throw new CommandFailure('no last pane');
  if (args.has('e') || args.has('d')) last.inputOff = args.has('d');
  else {
    window.zoomed = window.zoomed && args.has('Z');
    server.selectPane(last);
  }
}

const directions: Readonly<Record<string, readonly [Axis, 1 | -1]>> = {
  L: ['row', -1], R: ['row', 1], U: ['column', -1], D: ['column', 1],
}; // biome-ignore format: a table

function resize(server: MemoryServer, args: Arguments): undefined {
  const { pane, window } = find(server, 'pane', args.get('t'));
  if (args.has('T')) return;
  if (args.has('Z')) {
    window.zoomed = !window.zoomed && window.panes.length > 1;
    if (window.zoomed) server.selectPane(pane);
    return;
  }
  const by = Number(args.words[0] ?? 1);
  if (!Number.isInteger(by) || by < 1) throw new CommandFailure('adjustment invalid');
  window.zoomed = false;
  for (const [flag, axis, name] of [['x', 'row', 'width'], ['y', 'column', 'height']] as const) {
    const text = args.get(flag);
    if (text === undefined) continue;
    if (!/^\d+%?$/.test(text) || Number.parseInt(text, 10) === 0) throw new CommandFailure(`${name} invalid`);
    const size = text.endsWith('%') ? Math.floor((window.layout[name] * Number.parseInt(text, 10)) / 100) : Number(text);
    window.layout = resizePaneTo(window.layout, pane.id, axis, size);
  } // biome-ignore format: a table
  for (const [flag, [axis, sign]] of Object.entries(directions)) {
    if (args.has(flag)) window.layout = resizePane(window.layout, pane.id, axis, by * sign);
  }
}

/** The process of a pane starts anew, which it may only when it has ended or with -k; here none ever ends. */
function respawn(
  name: 'pane' | 'window',
  place: string,
): (server: MemoryServer, args: Arguments) => undefined {
  return (server, args) => {
    const found: Found = find(server, name, args.get('t'));
    const { window } = found;
    const pane = name === 'pane' ? found.pane : (window.panes[0] ?? found.pane);
    if (!args.has('k')) {
      throw new CommandFailure(
        `respawn ${name} failed: ${name} ${expand(place, { server, ...found })} still active`,
      );
    }
    if (name === 'window') for (const other of window.panes.slice(1)) server.removePane(other);
    pane.startDirectory = args.get('c') ?? pane.startDirectory;
    pane.startCommand = args.words.join(' ') || pane.startCommand;
    pane.lines = [''];
  };
}

export const paneCommands: CommandTable = {
  'split-window': { flags: 'bc:de:fF:hIl:p:Pt:vZ', words: [0, Number.POSITIVE_INFINITY], run: splitWindow },
  'join-pane': { flags: 'bdfhvp:l:s:t:', run: joinPane },
  'move-pane': { flags: 'bdfhvp:l:s:t:', run: joinPane },
  'swap-pane': { flags: 'dDs:t:UZ', run: swapPane },
  'select-pane': { flags: 'DdegLlMmP:RT:t:UZ', run: selectPane },
  'last-pane': { flags: 'det:Z', run: lastPane },
  'resize-pane': { flags: 'DLMRTt:Ux:y:Z', words: [0, 1], run: resize },
  'respawn-pane': {
    flags: 'c:e:kt:',
    words: [0, Number.POSITIVE_INFINITY],
    run: respawn('pane', '#{session_name}:#{window_index}.#{pane_index}'),
  },
  'respawn-window': {
    flags: 'c:e:kt:',
    words: [0, Number.POSITIVE_INFINITY],
    run: respawn('window', '#{session_name}:#{window_index}'),
  },
  'kill-pane': {
    flags: 'at:',
    run: (server, args) => {
      const { pane, window } = find(server, 'pane', args.get('t'));
      const doomed = args.has('a') ? window.panes.filter((other) => other !== pane) : [pane];
      for (const one of doomed) server.removePane(one);
      return undefined;
    },
  },
  'pipe-pane': {
    flags: 'IOot:',
    words: [0, 1],
    run: (server, args) => {
      const { pane } = find(server, 'pane', args.get('t'));
      pane.piped = Boolean(args.words[0]) && !(args.has('o') && pane.piped);
      return undefined;
    },
  },
  'list-panes': {
    flags: 'aF:f:O:rst:',
    run: (server, args) => {
      const sessions = server.sessions.toSorted((a, b) => (a.name < b.name ? -1 : 1));
      const links = args.has('a')
        ? sessions.flatMap((session) => session.links)
        : args.has('s')
          ? find(server, 'session', args.get('t')).session.links
          : [find(server, 'window', args.get('t')).link];
      const format = '#{pane_index}: [#{pane_width}x#{pane_height}] #{pane_id}#{?pane_active, (active),}';
      const subjects = links.flatMap((link) =>
        link.window.panes.map((pane) => ({ server, session: link.session, link, window: link.window, pane })),
      );
      return listRows(args, format, subjects);
    },
  },
};
