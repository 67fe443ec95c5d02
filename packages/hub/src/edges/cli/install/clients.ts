import { homedir } from 'node:os';
import { basename, join, resolve } from 'node:path';
import type { Env } from '../env.ts';
import type { ClientName } from './client-names.ts';
import type { Format } from './document.ts';
import type { Data } from './editor.ts';
import { claudeHooks, codexHooks, cursorHooks, geminiHooks, type HookShape } from './hook-shape.ts';
import type { Scope } from './scopes.ts';

/** How a program is started: the words of its command line. */
type Words = readonly [command: string, ...args: string[]];

/** How a file names its MCP servers, and how it writes one. */
export interface Shape {
  readonly format: Format;
  readonly table: string;
  entry(words: Words): Data;
}

/** One file, by the names it may have: the first that is there, or else the first. */
type Place = readonly [string, ...string[]];

/** One row for each program that can be told about poly. `~` is the home; `<NAME or …>` asks the environment. */
export interface AgentClient {
  readonly name: ClientName;
  readonly title: string;
  readonly shape: Shape;
  /** Its program, and what it leaves in a home: either tells that it is there. */
  readonly program: string;
  readonly signs: readonly string[];
  readonly places: Readonly<Partial<Record<Scope, readonly Place[]>>>;
  /** What is still to be done by the user. */
  readonly afterwards?: Readonly<Partial<Record<Scope, string>>>;
  /** Where it reads skills. */
  readonly skills?: Readonly<Record<Scope, string>>;
  /** Its hooks, where it has any that start a program. */
  readonly hooks?: HookShape;
}

const commandAndArgs = ([command, ...args]: Words) => ({ command, args });

/** Codex 0.166 gives a server HOME, LANG, PATH and TERM only: without these an agent in a pane would not be that pane. */
const ofThePane = [
  ...['POLY_HOME', 'POLY_PANE', 'POLY_TOKEN', 'POLY_SOCKET', 'POLY_NODE', 'XDG_RUNTIME_DIR'],
  ...['TMUX', 'TMUX_PANE'],
];

const common: Shape = { format: 'json', table: 'mcpServers', entry: commandAndArgs };
const commonToml: Shape = { format: 'toml', table: 'mcp_servers', entry: commandAndArgs };
const codex: Shape = {
  ...commonToml,
  // It gives a call up after a minute, and pty_wait may take four.
  entry: (words) => ({ ...commandAndArgs(words), env_vars: ofThePane, tool_timeout_sec: 300 }),
};
// Gemini 0.61 keeps whatever is called a token from its servers, and with it who an agent in a pane is.
const gemini: Shape = {
  ...common,
  entry: (words) => ({ ...commandAndArgs(words), env: { POLY_TOKEN: '$POLY_TOKEN' } }),
};
// Claude Code 2.1 shows the model only the names of tools unless it is told to load them.
const claude: Shape = {
  ...common,
  entry: (words) => ({ type: 'stdio', ...commandAndArgs(words), alwaysLoad: true }),
};
const vscode: Shape = {
  ...{ format: 'json', table: 'servers' },
  entry: (words) => ({ type: 'stdio', ...commandAndArgs(words) }),
};
const opencode: Shape = {
  ...{ format: 'json', table: 'mcp' },
  entry: (words) => ({ type: 'local', command: words, enabled: true }),
};

const settings =
  process.platform === 'darwin' ? '~/Library/Application Support' : '<XDG_CONFIG_HOME or ~/.config>';

export const clients: readonly AgentClient[] = [
  {
    ...{ name: 'claude', title: 'Claude Code', shape: claude, program: 'claude' },
    signs: ['~/.claude', '<CLAUDE_CONFIG_DIR or ~>/.claude.json'],
    places: { user: [['<CLAUDE_CONFIG_DIR or ~>/.claude.json']], project: [['.mcp.json']] },
    afterwards: { project: 'Claude Code asks once whether to use the servers of .mcp.json.' },
    skills: { user: '<CLAUDE_CONFIG_DIR or ~/.claude>/skills', project: '.claude/skills' },
    hooks: claudeHooks,
  },
  {
    ...{ name: 'codex', title: 'Codex', shape: codex, program: 'codex' },
    signs: ['<CODEX_HOME or ~/.codex>'],
    places: { user: [['<CODEX_HOME or ~/.codex>/config.toml']], project: [['.codex/config.toml']] },
    afterwards: { project: 'Codex reads .codex/config.toml only in a project that you trust.' },
    skills: { user: '~/.agents/skills', project: '.agents/skills' },
    hooks: codexHooks,
  },
  {
    ...{ name: 'cursor', title: 'Cursor', shape: common, program: 'cursor' },
    signs: ['~/.cursor'],
    places: { user: [['~/.cursor/mcp.json']], project: [['.cursor/mcp.json']] },
    hooks: cursorHooks,
  },
  {
    ...{ name: 'gemini', title: 'Gemini', shape: gemini, program: 'gemini' },
    signs: ['<GEMINI_CLI_HOME or ~>/.gemini/settings.json'],
    places: {
      user: [['<GEMINI_CLI_HOME or ~>/.gemini/settings.json']],
      project: [['.gemini/settings.json']],
    },
    hooks: geminiHooks,
  },
  {
    ...{ name: 'grok', title: 'Grok', shape: commonToml, program: 'grok' },
    signs: ['<GROK_HOME or ~/.grok>'],
    places: { user: [['<GROK_HOME or ~/.grok>/config.toml']], project: [['.grok/config.toml']] },
  },
  {
    // The editor and the command line each read a file of their own.
    ...{ name: 'antigravity', title: 'Antigravity', shape: common, program: 'agy' },
    signs: ['~/.gemini/antigravity', '~/.gemini/config'],
    places: { user: [['~/.gemini/antigravity/mcp_config.json'], ['~/.gemini/config/mcp_config.json']] },
  },
  {
    ...{ name: 'opencode', title: 'OpenCode', shape: opencode, program: 'opencode' },
    signs: ['<XDG_CONFIG_HOME or ~/.config>/opencode'],
    places: {
      user: [
        ['opencode.jsonc', 'opencode.json', 'config.json'].map(
          (file) => `<XDG_CONFIG_HOME or ~/.config>/opencode/${file}`,
        ) as unknown as Place,
      ],
      project: [['opencode.json', 'opencode.jsonc']],
    },
  },
  {
    ...{ name: 'vscode', title: 'VS Code', shape: vscode, program: 'code' },
    signs: [`${settings}/Code/User`],
    places: { user: [[`${settings}/Code/User/mcp.json`]], project: [['.vscode/mcp.json']] },
  },
];

/** The ways a file that nobody knows may be written, by what it holds, then by its name. */
export function shapeOf(file: string, data: Data): Shape {
  if (file.endsWith('.toml')) return commonToml;
  const named = [common, vscode, opencode].find(({ table }) => table in data);
  return named ?? (basename(file).startsWith('opencode.') ? opencode : common);
}

/** A path of the table on this machine. */
export function expanded(path: string, env: Env): string {
  const home = env.HOME || homedir();
  const filled = path.replace(
    /^<(\w+) or ([^>]*)>/,
    (_, name: string, otherwise: string) => env[name] || otherwise,
  );
  return resolve(filled.startsWith('~') ? join(home, filled.slice(1)) : filled);
}

/** Whether an entry starts `poly mcp`, and holds nothing that poly would not have written itself. */
export function isOurs(shape: Shape, entry: unknown, same: (a: unknown, b: unknown) => boolean): boolean {
  const words = wordsOf(entry);
  if (!words || basename(words[0]) !== 'poly' || words[1] !== 'mcp') return false;
  const written = shape.entry(words);
  return Object.entries(entry as Data).every(([key, value]) => same(value, written[key]));
}

/** What an entry starts, however it is written. */
export function wordsOf(entry: unknown): Words | undefined {
  const { command, args = [] } = (entry ?? {}) as { readonly command?: unknown; readonly args?: unknown };
  const words = [command, args].flat();
  return words.length > 0 && words.every((word) => typeof word === 'string')
    ? (words as unknown as Words)
    : undefined;
}
