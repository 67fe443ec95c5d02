import { type Arguments, CommandFailure, type CommandTable } from './command.ts';
import type { Subject } from './fields.ts';
import { expand } from './format.ts';
import { lines } from './list.ts';
import { isHook, knownOption, type OptionScope } from './option-table.ts';
import { checkOption, optionOf, quoteOption } from './options.ts';
import type { MemoryServer, Values } from './server.ts';
import { type Found, find } from './target.ts';

type Scope = OptionScope | 'pane';

interface Place {
  readonly values: Values;
  readonly subject: Subject;
}

/** The name without the index of an array's entry. */
const bare = (name: string): string => name.replace(/\[\d+\]$/, '');

/** Whose option is meant: by its own kind when tmux knows it, else by the flags. */
function scopeOf(args: Arguments, name: string | undefined, byDefault: Scope): Scope {
  const known = name === undefined || name.startsWith('@') ? undefined : knownOption(bare(name));
  if (name !== undefined && !name.startsWith('@') && !known)
    throw new CommandFailure(`invalid option: ${name}`);
  if (args.has('p') && (known?.scope ?? 'window') === 'window') return 'pane';
  if (known) return known.scope;
  return args.has('s') ? 'server' : args.has('w') ? 'window' : byDefault;
}

function placeOf(server: MemoryServer, args: Arguments, scope: Scope): Place {
  const globals = {
    server: server.serverOptions,
    session: server.sessionOptions,
    window: server.windowOptions,
    pane: server.windowOptions,
  };
  if (scope === 'server' || args.has('g')) return { values: globals[scope], subject: { server } };
  const found = findFor(server, args, scope);
  return { values: found[scope].options, subject: { server, ...found } };
}

function findFor(server: MemoryServer, args: Arguments, scope: Exclude<Scope, 'server'>): Found {
  const target = args.get('t');
  // Unlike other commands, these take `=name` for no more than a word.
  const unknown = target?.startsWith('=') && !target.includes(':');
  try {
    if (!unknown) return find(server, 'pane', target);
  } catch (error) {
    if (!(error instanceof CommandFailure)) throw error;
  }
  throw new CommandFailure(`no such ${scope}: ${target}`);
}

/** Names tmux does not know are an error unless -q. */
function quietly(args: Arguments, work: () => string | undefined): string | undefined {
  try {
    return work();
  } catch (error) {
    if (args.has('q') && error instanceof CommandFailure && error.message.startsWith('invalid option'))
      return undefined;
    throw error;
  }
}

function setOption(server: MemoryServer, args: Arguments, byDefault: Scope): undefined {
  const [name = '', text] = args.words;
  const { values, subject } = placeOf(server, args, scopeOf(args, name, byDefault));
  if (args.has('u')) {
    for (const key of [...values.keys()]) if (key === name || bare(key) === name) values.delete(key);
    return;
  }
  if (args.has('o') && values.has(name)) throw new CommandFailure(`already set: ${name}`);
  if (text === undefined) throw new CommandFailure('empty value');
  const value = checkOption(name, args.has('F') ? expand(text, subject) : text);
  values.set(name, args.has('a') ? (optionOf(name, subject) ?? '') + value : value);
}

/** One option, or all that are set in one place. */
function showOptions(
  server: MemoryServer,
  args: Arguments,
  byDefault: Scope,
  wanted: (name: string) => boolean,
): string {
  const [name] = args.words;
  const { values, subject } = placeOf(server, args, scopeOf(args, name, byDefault));
  const show = (key: string, value: string, mark = ''): string =>
    args.has('v') ? value : `${key}${mark} ${isHook(bare(key)) ? value : quoteOption(value)}`;
  if (name === undefined) {
    const shown = [...values].filter(([key]) => wanted(bare(key))).sort(([a], [b]) => (a < b ? -1 : 1));
    return lines(shown.map(([key, value]) => show(key, value)));
  }
  const entries = [...values].filter(([key]) => key === name || bare(key) === name);
  if (entries.length > 0) return lines(entries.map(([key, value]) => show(key, value)));
  if (isHook(name)) return `${name}\n`;
  const further = args.has('A') || args.has('g') || args.has('s') ? optionOf(name, subject) : undefined;
  if (further !== undefined) return lines([show(name, further, args.has('A') && !args.has('g') ? '*' : '')]);
  if (name.startsWith('@') && !args.has('q')) throw new CommandFailure(`invalid option: ${name}`);
  return '';
}

function setHook(server: MemoryServer, args: Arguments): undefined {
  const [name = '', command = ''] = args.words;
  if (!isHook(bare(name))) throw new CommandFailure(`invalid option: ${name}`);
  const { values } = placeOf(server, args, scopeOf(args, name, 'session'));
  if (args.has('R')) return;
  const taken = [...values.keys()].filter((key) => key === name || bare(key) === name);
  if (!args.has('a')) for (const key of taken) values.delete(key);
  if (args.has('u')) return;
  values.set(name.endsWith(']') ? name : `${name}[${args.has('a') ? taken.length : 0}]`, command);
}

type Environment = Map<string, string | null>;

function environmentOf(server: MemoryServer, args: Arguments): Environment {
  return args.has('g') ? server.environment : find(server, 'session', args.get('t')).session.environment;
}

function setEnvironment(server: MemoryServer, args: Arguments): undefined {
  const [name = '', value] = args.words;
  if (name === '') throw new CommandFailure('empty variable name');
  if (name.includes('=')) throw new CommandFailure('variable name contains =');
  const environment = environmentOf(server, args);
  if (value === undefined && !args.has('u') && !args.has('r')) throw new CommandFailure('no value specified');
  if (args.has('u')) environment.delete(name);
  else environment.set(name, args.has('r') ? null : (value ?? ''));
}

function showEnvironment(server: MemoryServer, args: Arguments): string {
  const [wanted] = args.words;
  const environment = environmentOf(server, args);
  if (wanted !== undefined && !environment.has(wanted))
    throw new CommandFailure(`unknown variable: ${wanted}`);
  const shown = [...environment]
    .filter(([name]) => wanted === undefined || name === wanted)
    .sort(([a], [b]) => (a < b ? -1 : 1));
  const show = args.has('s')
    ? shellLine
    : (name: string, value: string | null) => (value === null ? `-${name}` : `${name}=${value}`);
  return lines(shown.map(([name, value]) => show(name, value)));
}

/** A variable as a line for a shell. */
function shellLine(name: string, value: string | null): string {
  return value === null
    ? `unset ${name};`
    : `${name}="${value.replace(/[$`"\\]/g, '\\$&')}"; export ${name};`;
}

export const optionCommands: CommandTable = {
  'set-option': {
    flags: 'aFgopqst:uUw',
    words: [1, 2],
    run: (server, args) => quietly(args, () => setOption(server, args, 'session')),
  },
  'set-window-option': {
    flags: 'aFgoqt:u',
    words: [1, 2],
    run: (server, args) => quietly(args, () => setOption(server, args, 'window')),
  },
  'show-options': {
    flags: 'AgHpqst:vw',
    words: [0, 1],
    run: (server, args) =>
      quietly(args, () => showOptions(server, args, 'session', (name) => args.has('H') || !isHook(name))),
  },
  'show-window-options': {
    flags: 'gvt:',
    words: [0, 1],
    run: (server, args) => showOptions(server, args, 'window', (name) => !isHook(name)),
  },
  'set-hook': { flags: 'agpRt:uw', words: [1, 2], run: setHook },
  'show-hooks': {
    flags: 'gpt:w',
    words: [0, 1],
    run: (server, args) => showOptions(server, args, 'session', isHook),
  },
  'set-environment': { flags: 'Fhgrt:u', words: [1, 2], run: setEnvironment },
  'show-environment': { flags: 'hgst:', words: [0, 1], run: showEnvironment },
};
