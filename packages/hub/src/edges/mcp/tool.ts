import type { Client, Effect } from '@polyphony/protocol';
import type { Caller } from '../../registry/caller.ts';

/** Groups of tools a client can ask for; those without tools yet are empty. */
export const toolsets = ['panes', 'mail', 'tasks', 'contracts', 'floor', 'tmux', 'plans', 'actions'] as const;
export type Toolset = (typeof toolsets)[number];

/** How much a client may do, each with all before it. */
export const safeties = ['readonly', 'mutating', 'destructive'] as const;
export type Safety = (typeof safeties)[number];

export const safetyOf: Readonly<Record<Effect, Safety>> = {
  read: 'readonly',
  write: 'mutating',
  destructive: 'destructive',
};

/** Who uses a tool, from where, and with whose patience. */
export interface ToolContext {
  readonly client: Pick<Client, 'call'>;
  readonly caller: Caller;
  /** The folder and the environment of the agent, where they are known. */
  readonly place: Place;
  /** How far each pane had printed when the agent last wrote or waited. */
  readonly cursors: Map<string, number>;
}

export interface Place {
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
}

interface ToolAnswer {
  /** What the agent reads. */
  readonly text: string;
  /** The same for programs; left out where the text says it all, for some agents read only this. */
  readonly structured?: Readonly<Record<string, unknown>>;
}

/** A tool as an MCP client sees it. */
export interface McpTool {
  readonly name: string;
  readonly toolset: Toolset;
  readonly description: string;
  readonly effect: Effect;
  /** Whether agents ask their user before they use it. */
  readonly destroys?: boolean;
  readonly inputSchema: Readonly<Record<string, unknown>>;
  run(args: unknown, context: ToolContext): Promise<ToolAnswer>;
}
