import { atLeast } from '../../operation/version.ts';
import { type Arguments, CommandFailure, type CommandTable } from './command.ts';
import { expand } from './format.ts';
import { listRows, printed } from './list.ts';
import type { MemoryServer, Session } from './server.ts';
import { find } from './target.ts';

/** The name a session gets for a wanted one: expanded, a backslash as two, up to 3.6 without the marks targets are made of. */
function sessionName(server: MemoryServer, wanted: string, owner?: Session): string {
  const expanded = expand(wanted, { server, session: owner }).replaceAll('\\', '\\\\');
  const name = atLeast(server.version, '3.7') ? expanded : expanded.replace(/[:.]/g, '_');
  if (name === '') throw new CommandFailure('invalid session: ');
  if (server.sessions.some((session) => session !== owner && session.name === name)) {
    throw new CommandFailure(`duplicate session: ${name}`);
  }
  return name;
}

function sizeOf(args: Arguments): readonly [number, number] {
  const number = (flag: string, name: string, fallback: number): number => {
    const text = args.get(flag);
    if (text === undefined || text === '-') return fallback;
    if (!/^\d+$/.test(text)) throw new CommandFailure(`${name} invalid`);
    return Number(text);
  };
  return [number('x', 'width', 80), number('y', 'height', 24)];
}

function newSession(server: MemoryServer, args: Arguments): string | undefined {
  if (!args.has('d')) throw new CommandFailure('open terminal failed: not a terminal');
  if (args.has('t')) throw new CommandFailure('session groups are not kept in memory');
  const wanted = args.get('s');
  const name = wanted === undefined ? undefined : sessionName(server, wanted);
  const size = sizeOf(args);
  const start = {
    directory: args.get('c') && expand(args.get('c') ?? '', { server }),
    command: args.words.join(' ') || undefined,
  };
  const windowName = args.get('n');
  const session = server.createSession(
    name,
    windowName === undefined ? 'sh' : expand(windowName, { server }),
    size,
    start,
  );
  const link = session.current;
  const { window } = link;
  if (windowName !== undefined) window.options.set('automatic-rename', 'off');
  if (args.has('x') || args.has('y')) session.options.set('default-size', size.join('x'));
  for (const variable of args.all('e')) {
    const at = variable.indexOf('=');
    if (at > 0) session.environment.set(variable.slice(0, at), variable.slice(at + 1));
  }
  return printed(args, '#{session_name}:', { server, session, link, window, pane: window.active });
}

export const sessionCommands: CommandTable = {
  'new-session': {
    flags: 'Ac:dDe:EF:f:n:Ps:t:x:Xy:',
    words: [0, Number.POSITIVE_INFINITY],
    starts: true,
    run: newSession,
  },
  'start-server': { flags: '', starts: true, run: () => undefined },
  'has-session': {
    flags: 't:',
    run: (server, args) => {
      find(server, 'session', args.get('t'));
      return undefined;
    },
  },
  'kill-session': {
    flags: 'aCt:',
    run: (server, args) => {
      const { session } = find(server, 'session', args.get('t'));
      if (args.has('C')) return undefined;
      const doomed = args.has('a') ? server.sessions.filter((other) => other !== session) : [session];
      for (const one of doomed) server.closeSession(one);
      return undefined;
    },
  },
  'rename-session': {
    flags: 't:',
    words: [1, 1],
    run: (server, args) => {
      const { session } = find(server, 'session', args.get('t'));
      session.name = sessionName(server, args.words[0] ?? '', session);
      return undefined;
    },
  },
  'list-sessions': {
    flags: 'F:f:O:r',
    run: (server, args) => {
      const sorted = server.sessions.toSorted((a, b) => (a.name < b.name ? -1 : 1));
      const format = '#{session_name}: #{session_windows} windows#{?session_attached, (attached),}';
      return listRows(args, format, sorted.map((session) => {
        const { current: link } = session;
        return { server, session, link, window: link.window, pane: link.window.active };
      })); // biome-ignore format: one list
    },
  },
};
