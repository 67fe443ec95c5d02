import { foldName, type Participant, PolyError } from '@polyphony/protocol';
import type { AgentRecord } from './agent-record.ts';

const mostNamed = 20;

/**
 * The one person or agent of a name, with or without `@` and its kind: of the agents one of that project where there is
 * one. Where nobody is, or more than one, it throws with who could be meant.
 */
export function addressees(
  agents: readonly AgentRecord[],
  people: readonly Participant[],
  { name: given, project }: { readonly name: string; readonly project: string | undefined },
): AgentRecord | Participant {
  const name = foldName(given.replace(/^@/, ''));
  const [, kind, plain = ''] = /^(?:(user|agent):)?(.*)$/s.exec(name) ?? [];
  const persons =
    kind === 'agent'
      ? []
      : name === 'user'
        ? people.slice(0, 1)
        : people.filter((one) => one === `user:${plain}`);
  const named = kind === 'user' ? [] : agents.filter((one) => one.name === plain);
  const near = named.filter((one) => project !== undefined && one.projectKey === foldName(project));
  const found = [...persons, ...(near.length > 0 ? near : named)];
  const [only, ...others] = found;
  if (only !== undefined && others.length === 0) return only;
  const shown = (one: AgentRecord | Participant): string =>
    typeof one === 'string' ? one : `agent:${one.name} in "${one.project}"`;
  const candidates = (found.length > 0 ? found : [...people, ...agents]).map(shown);
  const more = candidates.length > mostNamed ? ` and ${candidates.length - mostNamed} more` : '';
  const who = `${candidates.slice(0, mostNamed).join(', ')}${more}`;
  throw new PolyError(
    found.length > 0 ? 'conflict' : 'not_found',
    found.length > 0 ? `more than one is called "${plain}".` : `nobody here is called "${plain}".`,
    {
      hint: found.length > 0 ? `Say which, with its kind or its project: ${who}.` : `There are ${who}.`,
      details: {
        reason: found.length > 0 ? 'ambiguous_recipient' : 'unknown_recipient',
        candidates: candidates.slice(0, mostNamed),
      },
    },
  );
}
