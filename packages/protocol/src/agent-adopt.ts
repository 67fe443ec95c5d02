import * as z from 'zod';
import { type Action, defineAction, nothing } from './action.ts';
import { type AdoptedAgentInfo, adoptedAgentInfo } from './agent.ts';
import { paneId } from './id.ts';
import { text } from './pane-parts.ts';

export interface AgentAdoptParams {
  readonly targets?: readonly string[] | undefined;
  readonly id?: string | undefined;
  readonly sockets?: readonly string[] | undefined;
  readonly dryRun?: boolean | undefined;
}

/** An agent that runs already, and what can be known of it. */
export interface FoundAgent extends AdoptedAgentInfo {
  /** None where it was only looked for. */
  readonly id?: string | undefined;
  readonly vendor: string;
}

export interface AgentAdoptResult {
  /** Those that are watched from now on, or would be. */
  readonly adopted: readonly FoundAgent[];
  /** Those that were watched before. */
  readonly already: readonly FoundAgent[];
  /** Servers of tmux that could not be asked. */
  readonly silent: readonly { readonly socket: string; readonly why: string }[];
}

const foundAgent: z.ZodType<FoundAgent> = z.intersection(
  adoptedAgentInfo,
  z.object({ id: paneId.optional(), vendor: z.string() }),
);

export const agentAdopt: Action<AgentAdoptParams, AgentAdoptResult> = defineAction({
  name: 'agent:adopt',
  summary:
    'Finds coding agents that somebody else has started, and watches them; nothing about them is changed.',
  scope: 'server:write',
  effect: 'write',
  params: z.strictObject({
    targets: z
      .array(text.min(1).max(4096))
      .min(1)
      .max(100)
      .optional()
      .describe(
        'Only these: a pid, a tmux pane (%3), or one of a certain server (work:%3). All when left out.',
      ),
    id: paneId.optional().describe('An id of your own for the one target.'),
    sockets: z
      .array(text.min(1).max(4096))
      .max(1000)
      .optional()
      .describe('Sockets of tmux servers to look at, beside those that the hub finds.'),
    dryRun: z.boolean().optional().describe('Only say what would be adopted.'),
  }),
  result: z.object({
    adopted: z.array(foundAgent),
    already: z.array(foundAgent),
    silent: z.array(z.object({ socket: z.string(), why: z.string() })),
  }),
});

export const agentRelease: Action<{ readonly paneId: string }, Record<string, never>> = defineAction({
  name: 'agent:release',
  summary: 'Watches an adopted agent no longer; it runs on untouched.',
  scope: 'server:write',
  effect: 'write',
  onFullDisk: true,
  params: z.strictObject({ paneId }),
  result: nothing,
});
