import type { Client, Conversation, Effect } from '@polyphony/protocol';
import type { Caller } from '../../registry/caller.ts';

/** Groups of tools a client can ask for; those without tools yet are empty. */
export const toolsets = ['panes', 'mail', 'tasks', 'contracts', 'floor', 'tmux', 'plans', 'actions'] as const;
/** One is asked for by a word of its own: it has a tool for each operation of tmux. */
export type Toolset = (typeof toolsets)[number] | 'operations';

/** How much a client may do, each with all before it. */
export const safeties = ['readonly', 'mutating', 'destructive'] as const;
export type Safety = (typeof safeties)[number];

export const safetyOf: Readonly<Record<Effect, Safety>> = {
  read: 'readonly',
  write: 'mutating',
  destructive: 'destructive',
};

/** What a client has asked for. */
export interface Choice {
  readonly toolsets: ReadonlySet<Toolset>;
  readonly safety: Safety;
  /** Which tmux server the tools of `tmux` act on. */
  readonly tmux: TmuxChoice;
  /** Whether it takes what it has not asked for, as Claude Code does on a channel. */
  readonly channel: boolean;
}

export interface TmuxChoice {
  readonly socketPath?: string;
  readonly socketName?: string;
  /** Whether the server the agent itself runs in is taken where none is named. */
  readonly callerSocket: boolean;
}

/** Who uses a tool, from where, and with whose patience. */
export interface ToolContext {
  readonly client: Pick<Client, 'call'>;
  readonly caller: Caller;
  /** The folder and the environment of the agent, where they are known. */
  readonly place: Place;
  /** How far each pane had printed when the agent last wrote or waited. */
  readonly cursors: Map<string, number>;
  readonly choice: Choice;
  /** Whether the next call comes from whoever made this one: who has registered is known again. */
  readonly remembers: boolean;
  /** Aborted when nobody waits for the answer any longer. */
  readonly signal: AbortSignal;
  /** Tells a client that wants to know that something goes on. */
  progress(message: string): void;
}

export interface Place {
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** Where in tmux the agent runs, as its `TMUX` and `TMUX_PANE` say. */
  readonly tmux?: string;
  readonly tmuxPane?: string;
  /** The pane of the hub it seems to run in, where its credential does not say so. */
  readonly pane?: string;
  /** The conversation it works for, where the coding agent says so. */
  readonly conversation?: Conversation;
}

export interface ToolAnswer {
  /** What the agent reads. */
  readonly text: string;
  /** The same for programs; left out where the text says it all, for some agents read only this. */
  readonly structured?: Readonly<Record<string, unknown>>;
  /** Not to be shortened: what is left out could not be had again. */
  readonly isWhole?: boolean;
  /** It has failed, and what became of it is told here. */
  readonly isError?: boolean;
}

/** A tool as an MCP client sees it. */
export interface McpTool {
  readonly name: string;
  readonly toolset: Toolset;
  readonly description: string;
  readonly effect: Effect;
  /** It has an effect that it can do without, and so is there too for those who may only look. */
  readonly looksWhenReadonly?: boolean;
  /** It acts beside the actions, and so beside what is permitted to panes: only the user's own clients have it. */
  readonly needsUser?: boolean;
  /** Some calls of it go further than its effect: they are refused to a client that may not. */
  readonly raises?: boolean;
  /** What it does depends on which agent asks. Where nobody is known again, that is said with each call: by `secret`. */
  readonly asAgent?: boolean;
  /** It may take long: whoever wants to know is told that it goes on. */
  readonly waits?: boolean;
  /** Whether agents ask their user before they use it. */
  readonly destroys?: boolean;
  readonly inputSchema: Readonly<Record<string, unknown>>;
  /** What `structured` always holds. Clients take no answer without it, so that only what stays short promises it. */
  readonly outputSchema?: Readonly<Record<string, unknown>>;
  run(args: unknown, context: ToolContext): Promise<ToolAnswer>;
}
