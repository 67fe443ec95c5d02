import { launch } from '../launch.ts';
import { factsOf } from '../processes.ts';
import { openConversation } from '../state/open-conversation.ts';
import { SessionFile } from '../state/session-file.ts';
import { vendors } from '../vendors/vendors.ts';
import type { AdoptedAgent } from './adopted-agent.ts';
import type { Sighting } from './find-agents.ts';
import { variablesIn } from './hook-owner.ts';

/** Where to look for what an agent's hooks told before. */
interface HeardPlace {
  readonly agent: string;
  readonly since: number;
  readonly sessionId: string | null;
  /** How `TMUX_PANE` and `TMUX` of its hooks begin. */
  readonly tmux: string | null;
}

export interface DescribeOptions {
  readonly id: string;
  readonly now: number;
  /** The variables of the hub. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** What hooks told before it was adopted: whether anything, and of which conversation. */
  readonly heardBefore: (
    place: HeardPlace,
  ) => Promise<{ readonly heard: boolean; readonly sessionId: string | null }>;
}

/** An agent that was seen, as it is written down; undefined when it has ended meanwhile. */
export async function describeAgent(
  { vendor, program, pid, startTime, argv, env, tmux }: Sighting,
  { id, now, env: ours, heardBefore }: DescribeOptions,
): Promise<AdoptedAgent | undefined> {
  const facts = await factsOf(pid, argv, now);
  if (!facts) return undefined;
  const known = vendor === 'cursor' ? undefined : vendors[vendor];
  const file = known && SessionFile.of(known.name, pid);
  const sessionFile = (await file?.read()) !== undefined;
  const { heard, sessionId } = await heardBefore({
    ...{ agent: vendor, since: facts.startedAt, tmux: tmux && variablesIn(tmux) },
    sessionId: file?.sessionId ?? (known && openConversation(known.name, pid)) ?? null,
  });
  const again = launch({ argv: [program] });
  const homes = known?.homes.filter((name) => env[name] !== undefined && env[name] !== ours[name]) ?? [];
  return {
    ...{ id, vendor, pid, startTime, tmux, sessionFile, hooks: heard },
    title: argv.join(' ').slice(0, 200),
    argv: again.argv,
    fixedEnv: { ...again.env, ...Object.fromEntries(homes.map((name) => [name, env[name] ?? ''])) },
    cwd: facts.cwd ?? '/',
    createdAt: facts.startedAt,
    meta: { 'agent.runtime': vendor, ...(sessionId !== null && { 'agent.sessionId': sessionId }) },
    ...{ status: 'running', exitCode: null, exitSignal: null },
  };
}
