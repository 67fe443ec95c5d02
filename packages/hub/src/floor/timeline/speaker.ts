import type { Heard } from './story.ts';

/** So many characters the name of an agent has at most. */
const longest = 64;

/** Who tells something: the agent, or a sub-agent as itself, `agent:dean.sql`, below the agent whose it is. */
export function speakerOf(agent: string, { kind, subagent, subagentType = '' }: Heard): string {
  const isBelow = subagent !== undefined || kind === 'subagent_started' || kind === 'subagent_ended';
  // What a sub-agent is asked its agent says.
  if (!isBelow || kind === 'prompt') return agent;
  const name = agent.slice(agent.indexOf(':') + 1);
  const own = nameOf(subagentType).slice(0, Math.max(0, longest - name.length - 1));
  return own === '' ? agent : `${agent}.${own}`;
}

/** A kind of sub-agent as one part of a name: a dot would name a sub-agent of another. */
function nameOf(type: string): string {
  const plain = type
    .toLowerCase()
    .replace(/[^a-z0-9_-]+/g, '-')
    .replace(/^[^a-z0-9]+|[^a-z0-9]+$/g, '');
  return plain || 'subagent';
}
