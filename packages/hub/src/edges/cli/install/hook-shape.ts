import type { Data } from './editor.ts';
import type { Scope } from './scopes.ts';

/** Where a client reads its hooks, and how it writes one. */
export interface HookShape {
  readonly places: Readonly<Record<Scope, string>>;
  /** One item of the list that an event has. */
  entry(command: string, event: string): Data;
  /** What the file needs beside them. */
  readonly heading?: Data;
  /** Where it writes down which hooks its user trusts. */
  readonly trust?: string;
  /** What is still to be done by the user. */
  readonly afterwards?: Readonly<Partial<Record<Scope, string>>>;
}

/** Far more than a hook needs that waits for nobody. */
const seconds = 5;

/** Claude Code, Codex and Gemini group the hooks of an event by what they match: here everything. */
const group = (command: string, timeout: number): Data => ({
  hooks: [{ type: 'command', command, timeout }],
});

// Codex 0.166 cuts these two down to 3 seconds and warns of more at each start.
const atTheEnd = new Set(['SessionEnd', 'Interrupt']);

export const claudeHooks: HookShape = {
  places: { user: '<CLAUDE_CONFIG_DIR or ~/.claude>/settings.json', project: '.claude/settings.json' },
  entry: (command) => group(command, seconds),
};

export const codexHooks: HookShape = {
  places: { user: '<CODEX_HOME or ~/.codex>/hooks.json', project: '.codex/hooks.json' },
  entry: (command, event) => group(command, atTheEnd.has(event) ? 3 : seconds),
  trust: '<CODEX_HOME or ~/.codex>/config.toml',
  afterwards: { project: 'Codex reads .codex/hooks.json only in a project that you trust.' },
};

export const cursorHooks: HookShape = {
  places: { user: '~/.cursor/hooks.json', project: '.cursor/hooks.json' },
  entry: (command) => ({ command, timeout: seconds }),
  heading: { version: 1 },
};

export const geminiHooks: HookShape = {
  places: { user: '<GEMINI_CLI_HOME or ~>/.gemini/settings.json', project: '.gemini/settings.json' },
  // Its unit is the millisecond.
  entry: (command) => group(command, seconds * 1000),
};
