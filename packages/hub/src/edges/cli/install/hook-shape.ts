import type { Data } from './editor.ts';
import type { Scope } from './scopes.ts';

/** What hooks start: the first at every event, the others at those that their client has an ear at. */
export const hookScriptNames = ['capture.sh', 'context.sh', 'wake.sh'] as const;
export type HookScriptName = (typeof hookScriptNames)[number];

/** One item of the list that an event has. */
type WriteEntry = (command: string, event: string) => Data;

/** A script that brings text to an agent, and the events whose answer reaches it. */
interface Delivery {
  readonly script: HookScriptName;
  readonly events: readonly string[];
  readonly entry: WriteEntry;
}

/** Where a client reads its hooks, and how it writes one. */
export interface HookShape {
  readonly places: Readonly<Record<Scope, string>>;
  readonly entry: WriteEntry;
  readonly delivers: readonly Delivery[];
  /** What the file needs beside them. */
  readonly heading?: Data;
  /** The key of the same file under which its user has a status line; a project's would hide that of each of its users. */
  readonly statusLine?: string;
  /** Where it writes down which hooks its user trusts. */
  readonly trust?: string;
  /** What is still to be done by the user. */
  readonly afterwards?: Readonly<Partial<Record<Scope, string>>>;
}

/** One entry that is wanted. */
export interface WishedHook {
  readonly event: string;
  readonly script: HookScriptName;
  readonly entry: Data;
}

/** Every entry of a client, event by event; of one event capture comes first. */
export function wishedHooks(
  { entry, delivers }: HookShape,
  events: readonly string[],
  commandOf: (script: HookScriptName) => string,
): readonly WishedHook[] {
  const captures: Delivery = { script: 'capture.sh', events, entry };
  return events.flatMap((event) =>
    [captures, ...delivers]
      .filter((one) => one.events.includes(event))
      .map((one) => ({ event, script: one.script, entry: one.entry(commandOf(one.script), event) })),
  );
}

/** Far more than a hook needs that waits for nobody. */
const seconds = 5;

/** Claude Code, Codex and Gemini group the hooks of an event by what they match: here everything. */
const group = (command: string, timeout: number, more: Data = {}): Data => ({
  hooks: [{ type: 'command', command, timeout, ...more }],
});

// Codex 0.166 cuts these two down to 3 seconds and warns of more at each start.
const atTheEnd = new Set(['SessionEnd', 'Interrupt']);

const claudeEntry: WriteEntry = (command) => group(command, seconds);
const codexEntry: WriteEntry = (command, event) => group(command, atTheEnd.has(event) ? 3 : seconds);
// Its unit is the millisecond.
const geminiEntry: WriteEntry = (command) => group(command, seconds * 1000);

export const claudeHooks: HookShape = {
  places: { user: '<CLAUDE_CONFIG_DIR or ~/.claude>/settings.json', project: '.claude/settings.json' },
  entry: claudeEntry,
  delivers: [
    {
      script: 'context.sh',
      // One event for all tools that ran side by side is enough.
      events: ['SessionStart', 'UserPromptSubmit', 'PostToolBatch'],
      entry: claudeEntry,
    },
    {
      script: 'wake.sh',
      events: ['SessionStart', 'UserPromptSubmit', 'Stop'],
      // Longer than the script waits by itself, so that nothing is cut off.
      entry: (command) => group(command, 90_000, { asyncRewake: true }),
    },
  ],
  statusLine: 'statusLine',
};

export const codexHooks: HookShape = {
  places: { user: '<CODEX_HOME or ~/.codex>/hooks.json', project: '.codex/hooks.json' },
  entry: codexEntry,
  delivers: [
    {
      script: 'context.sh',
      events: ['SessionStart', 'UserPromptSubmit', 'PostToolUse'],
      entry: codexEntry,
    },
  ],
  trust: '<CODEX_HOME or ~/.codex>/config.toml',
  afterwards: { project: 'Codex reads .codex/hooks.json only in a project that you trust.' },
};

export const cursorHooks: HookShape = {
  places: { user: '~/.cursor/hooks.json', project: '.cursor/hooks.json' },
  entry: (command) => ({ command, timeout: seconds }),
  delivers: [],
  heading: { version: 1 },
};

export const geminiHooks: HookShape = {
  places: { user: '<GEMINI_CLI_HOME or ~>/.gemini/settings.json', project: '.gemini/settings.json' },
  entry: geminiEntry,
  delivers: [
    { script: 'context.sh', events: ['SessionStart', 'BeforeAgent', 'AfterTool'], entry: geminiEntry },
  ],
};
