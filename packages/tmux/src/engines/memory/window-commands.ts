import { atLeast } from '../../operation/version.ts';
import { type Arguments, CommandFailure, type CommandTable } from './command.ts';
import type { Subject } from './fields.ts';
import { expand } from './format.ts';
import { removePane, renamePanes } from './layout.ts';
import { presets } from './layout-presets.ts';
import { readLayout } from './layout-text.ts';
import { listRows, printed } from './list.ts';
import { optionOf } from './options.ts';
import type { Link, MemoryServer, Session } from './server.ts';
import { find, findIndex } from './target.ts';

function subjectOf(server: MemoryServer, link: Link): Subject {
  return { server, session: link.session, link, window: link.window, pane: link.window.active };
}

/** Makes the index of a new or moved window free, or says why it is not. */
function claimIndex(
  server: MemoryServer,
  args: Arguments,
  complaint: (index: number) => string,
): { session: Session; index: number } {
  const { session, index, link } = findIndex(server, args.get('t'));
  if (args.has('a') || args.has('b')) {
    const wanted = link ? link.index + (args.has('a') ? 1 : 0) : (index ?? 0);
    if (link) server.makeRoom(session, wanted);
    return { session, index: wanted };
  }
  if (index === null) return { session, index: server.freeIndex(session) };
  if (link && !args.has('k')) throw new CommandFailure(complaint(index));
  return { session, index };
}

/** Takes away what `-k` replaces, once the new link is there, so that its session never runs out of windows. */
function killReplaced(server: MemoryServer, link: Link): void {
  const replaced = link.session.links.find((other) => other !== link && other.index === link.index);
  if (!replaced) return;
  if (link.session.current === replaced) link.session.current = link;
  server.unlink(replaced);
}

function newWindow(server: MemoryServer, args: Arguments): string | undefined {
  const { session, index } = claimIndex(
    server,
    args,
    (taken) => `create window failed: index ${taken} in use`,
  );
  const subject = subjectOf(server, session.current);
  const [width = 80, height = 24] = (optionOf('default-size', subject) ?? '').split('x').map(Number);
  const name = args.get('n');
  const directory = args.get('c');
  const window = server.createWindow(name === undefined ? 'sh' : expand(name, subject), [width, height], {
    directory: directory && expand(directory, subject),
    command: args.words.join(' ') || undefined,
  });
  if (name !== undefined) window.options.set('automatic-rename', 'off');
  const link = server.link(session, window, index);
  killReplaced(server, link);
  if (!args.has('d')) server.select(link);
  return printed(args, '#{session_name}:#{window_index}.#{pane_index}', subjectOf(server, link));
}

/** Puts a window at another place, and keeps or leaves the old one. */
function place(server: MemoryServer, args: Arguments, keep: boolean): undefined {
  const { link: source } = find(server, 'window', args.get('s'));
  const claimed = findIndex(server, args.get('t'));
  const isNextTo = args.has('a') || args.has('b');
  if (claimed.link?.window === source.window && claimed.index !== null && !isNextTo) {
    throw new CommandFailure(`same index: ${claimed.index}`);
  }
  const { session, index } = claimIndex(server, args, (taken) => `index in use: ${taken}`);
  const link = server.link(session, source.window, index);
  killReplaced(server, link);
  if (!args.has('d')) server.select(link);
  if (!keep) server.unlink(source);
}

function renumber(server: MemoryServer, session: Session): void {
  session.links.forEach((link, i) => {
    link.index = server.baseIndex(session) + i;
  });
}

function step(by: 1 | -1, complaint: string): (server: MemoryServer, args: Arguments) => undefined {
  return (server, args) => {
    const { session } = find(server, 'session', args.get('t'));
    const { links, current } = session;
    const next = links.at((links.indexOf(current) + by) % links.length);
    if (!next || args.has('a') || !server.select(next)) throw new CommandFailure(complaint);
  };
}

function selectLayout(server: MemoryServer, args: Arguments): undefined {
  const found = find(server, 'pane', args.get('t'));
  const { window } = found;
  const name = args.words[0];
  const panes = window.panes.map((pane) => pane.id);
  const { width, height } = window.layout;
  window.zoomed = false;
  if (args.has('E')) {
    window.layout =
      presets['even-horizontal']?.(panes, { width, height, mainWidth: 0, mainHeight: 0 }) ?? window.layout;
    return;
  }
  if (name === undefined) return;
  const preset = presets[name];
  if (preset) {
    const size = (option: string, whole: number, fallback: number): number => {
      const text = optionOf(option, { server, ...found }) || String(fallback);
      return text.endsWith('%') ? Math.floor((whole * Number.parseInt(text, 10)) / 100) : Number(text);
    };
    window.layout = preset(panes, {
      width,
      height,
      mainWidth: size('main-pane-width', width, 80),
      mainHeight: size('main-pane-height', height, 24),
    });
    return;
  }
  const read = readLayout(name);
  if (!read) throw new CommandFailure(`invalid layout: ${name}`);
  const cells = JSON.stringify(read).split('"pane"').length - 1;
  if (cells < panes.length) throw new CommandFailure(`have ${panes.length} panes but need ${cells}`);
  const surplus = Array.from({ length: cells - panes.length }, (_, i) => panes.length + i);
  const preferAfter = atLeast(server.version, '3.8');
  const fitting = surplus.reduce((cell, leaf) => removePane(cell, leaf, preferAfter) ?? cell, read);
  window.layout = renamePanes(fitting, (leaf) => panes[leaf] ?? leaf);
  server.resizeWindow(window, width, height);
}

function resizeWindow(server: MemoryServer, args: Arguments): undefined {
  const { window } = find(server, 'window', args.get('t'));
  const by = Number(args.words[0] ?? 1);
  if (!Number.isInteger(by) || by < 1) throw new CommandFailure('adjustment invalid');
  const given = (flag: string, name: string): number | undefined => {
    const text = args.get(flag);
    if (text !== undefined && !/^[1-9]\d*$/.test(text)) throw new CommandFailure(`${name} invalid`);
    return text === undefined ? undefined : Number(text);
  };
  const { width, height } = window.layout;
  const change = (less: string, more: string): number =>
    (args.has(more) ? by : 0) - (args.has(less) ? by : 0);
  server.resizeWindow(
    window,
    given('x', 'width') ?? Math.max(width + change('L', 'R'), 1),
    given('y', 'height') ?? Math.max(height + change('U', 'D'), 1),
  );
  window.options.set('window-size', 'manual');
}

function swapWindow(server: MemoryServer, args: Arguments): undefined {
  const { link: from } = find(server, 'window', args.get('s'));
  const { link: to } = find(server, 'window', args.get('t'));
  if (from.window === to.window) return;
  [from.window, to.window] = [to.window, from.window];
  // tmux 3.3 to 3.7 select the target with -d, and leave all as it is without.
  if (!args.has('d')) return;
  server.select(to);
  if (from.session !== to.session) server.select(from);
}

function rotateWindow(server: MemoryServer, args: Arguments): undefined {
  const { window } = find(server, 'window', args.get('t'));
  const before = window.panes;
  const by = args.has('D') ? -1 : 1;
  const turned = before.map((_, i) => before.at((i + by) % before.length) ?? window.active);
  const active = turned[before.indexOf(window.active)];
  const order = new Map(before.map((pane, i) => [pane.id, turned[i]?.id ?? pane.id]));
  window.panes = turned;
  window.zoomed = false;
  window.layout = renamePanes(window.layout, (pane) => order.get(pane) ?? pane);
  if (active) server.selectPane(active);
}

/** Moves a pane into a window of its own. */
function breakPane(server: MemoryServer, args: Arguments): string | undefined {
  const { pane, link: source } = find(server, 'pane', args.get('s'));
  const { width, height } = pane.window.layout;
  const { session, index } = claimIndex(server, args, (taken) => `index in use: ${taken}`);
  const alone = pane.window.panes.length === 1;
  const name = args.get('n');
  const link = server.link(session, pane.window, index);
  if (alone) server.unlink(source);
  else {
    server.removePane(pane);
    link.window = server.createWindowOf(pane, 'sh', [width, height]);
  }
  if (name !== undefined) {
    link.window.name = name;
    link.window.options.set('automatic-rename', 'off');
  }
  if (!args.has('d')) server.select(link);
  return printed(args, '#{session_name}:#{window_index}.#{pane_index}', subjectOf(server, link));
}

export const windowCommands: CommandTable = {
  'new-window': { flags: 'abc:de:F:kn:PSt:', words: [0, Number.POSITIVE_INFINITY], run: newWindow },
  'break-pane': { flags: 'abdPF:n:s:t:', run: breakPane },
  'kill-window': {
    flags: 'at:',
    run: (server, args) => {
      const { window, session } = find(server, 'window', args.get('t'));
      const others = session.links.map((link) => link.window).filter((other) => other !== window);
      for (const doomed of args.has('a') ? others : [window]) server.closeWindow(doomed);
      return undefined;
    },
  },
  'unlink-window': {
    flags: 'kt:',
    run: (server, args) => {
      const { link } = find(server, 'window', args.get('t'));
      if (!args.has('k') && server.linksOf(link.window).length === 1) {
        throw new CommandFailure('window only linked to one session');
      }
      server.unlink(link);
      return undefined;
    },
  },
  'rename-window': {
    flags: 't:',
    words: [1, 1],
    run: (server, args) => {
      const { window, link } = find(server, 'window', args.get('t'));
      window.name = expand(args.words[0] ?? '', subjectOf(server, link));
      window.options.set('automatic-rename', 'off');
      return undefined;
    },
  },
  'select-window': {
    flags: 'lnpTt:',
    run: (server, args) => {
      const { session, link } = find(server, 'window', args.get('t'));
      const last = args.has('T') && session.current === link ? session.lastLinks[0] : undefined;
      server.select(last ?? link);
      return undefined;
    },
  },
  'next-window': { flags: 'at:', run: step(1, 'no next window') },
  'previous-window': { flags: 'at:', run: step(-1, 'no previous window') },
  'last-window': {
    flags: 't:',
    run: (server, args) => {
      const { session } = find(server, 'session', args.get('t'));
      const last = session.lastLinks[0];
      if (!last) throw new CommandFailure('no last window');
      server.select(last);
      return undefined;
    },
  },
  'move-window': {
    flags: 'abdkrs:t:',
    run: (server, args) => {
      if (!args.has('r')) return place(server, args, false);
      renumber(server, find(server, 'session', args.get('t')).session);
      return undefined;
    },
  },
  'link-window': { flags: 'abdks:t:', run: (server, args) => place(server, args, true) },
  'swap-window': { flags: 'ds:t:', run: swapWindow },
  'rotate-window': { flags: 'Dt:UZ', run: rotateWindow },
  'resize-window': { flags: 'aADLRt:Ux:y:', words: [0, 1], run: resizeWindow },
  'select-layout': { flags: 'Enopt:', words: [0, 1], run: selectLayout },
  'list-windows': {
    flags: 'aF:f:O:rt:',
    run: (server, args) => {
      const sessions = server.sessions.toSorted((a, b) => (a.name < b.name ? -1 : 1));
      const wanted = args.has('a') ? sessions : [find(server, 'session', args.get('t')).session];
      const format =
        '#{window_index}: #{window_name}#{window_flags} (#{window_panes} panes) [#{window_width}x#{window_height}]';
      return listRows(
        args,
        format,
        wanted.flatMap((session) => session.links.map((link) => subjectOf(server, link))),
      );
    },
  },
};
