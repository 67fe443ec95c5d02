import { argvOf, parentOf } from '../processes.ts';
import type { AdoptedAgent, TmuxPlace } from './adopted-agent.ts';
import { agentProgram } from './agent-program.ts';

/** What tells from whom a hook event is. */
export interface HookOrigin {
  readonly agent: string;
  readonly session: string | null;
  /** The process that ran the hook, or that of the agent where it names itself. */
  readonly parent: number;
  /** `TMUX_PANE` and `TMUX` of the hook. */
  readonly tmux: string;
}

/** How `TMUX_PANE` and `TMUX` begin in this pane; the session at the end may change. */
export const variablesIn = ({ pane, socket, server }: TmuxPlace): string => `${pane} ${socket},${server},`;

/** Of the agents that run, the one whose hook told something; undefined when that cannot be known. */
export function hookOwner(origin: HookOrigin, running: readonly AdoptedAgent[]): AdoptedAgent | undefined {
  const alike = running.filter(({ vendor }) => vendor === origin.agent);
  return (
    alike.find(({ meta }) => origin.session !== null && meta['agent.sessionId'] === origin.session) ??
    (argvOf(origin.parent) === undefined ? byPlace(origin, alike) : byProcess(origin, alike))
  );
}

/** Who ran the hook has ended: then its tmux pane has to do, for an agent whose conversation is not known yet. */
function byPlace({ tmux }: HookOrigin, alike: readonly AdoptedAgent[]): AdoptedAgent | undefined {
  return alike.find(
    ({ tmux: place, meta }) =>
      meta['agent.sessionId'] === undefined && place && tmux.startsWith(variablesIn(place)),
  );
}

const mostSteps = 32;

/** The nearest agent above a hook, from its first process on: what another agent started for a tool is not meant. */
function byProcess({ parent }: HookOrigin, alike: readonly AdoptedAgent[]): AdoptedAgent | undefined {
  if (alike.length === 0) return undefined;
  let agent: number | undefined;
  for (let pid = parent, steps = 0; pid > 1 && steps < mostSteps; pid = parentOf(pid) ?? 0, steps += 1) {
    const isAgent = agentProgram(argvOf(pid) ?? []) !== undefined;
    if (agent !== undefined && !isAgent) break;
    if (isAgent) agent = pid;
  }
  return alike.find(({ pid }) => pid === agent);
}
