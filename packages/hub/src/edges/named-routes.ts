import { type NamedAgent, PolyError } from '@polyphony/protocol';
import * as z from 'zod';
import type { Dispatch } from '../registry/dispatch.ts';
import { actionRoutes, queryOf } from './action-routes.ts';
import type { Call, Route } from './routes.ts';

/** Named agents, and members of projects as Polaris has them, each route a translation into an action. */
export function namedRoutes(dispatch: Dispatch): readonly Route[] {
  const { run, acts } = actionRoutes(dispatch);
  const read = { scope: 'floor:read' } as const;
  const admin = { scope: 'floor:admin' } as const;
  const agents = '/team/agents';
  const agent = `${agents}/:name`;
  const members = '/projects/:project/members';
  // What the action takes is its own to say.
  const body = z.record(z.string(), z.unknown());
  const one = ({ name }: Call) => ({ name });
  const changed = (call: Call, given: object) => ({ ...given, ...one(call) });
  return [
    {
      ...{ method: 'GET', path: agents, summary: 'Lists the named agents.', ...read },
      query: { project: 'Only of this project.', skill: 'Only with such a skill.' },
      handle: async (call) => agentsIn(await run('floor:agents', queryOf(call), call)),
    },
    acts('POST', agents, 'Adds a named agent.', 'floor:agent-add', body, (_, given) => given, {
      ...{ ...admin, status: 201 },
    }),
    acts('GET', agent, 'Shows a named agent.', 'floor:agent', undefined, one, read),
    acts('POST', agent, 'Changes a named agent.', 'floor:agent-edit', body, changed, admin),
    acts('DELETE', agent, 'Removes a named agent.', 'floor:agent-remove', undefined, one, admin),
    acts(
      ...(['POST', `${agent}/secrets`, 'Keeps or deletes a secret.', 'floor:agent-secret'] as const),
      z.strictObject({ variable: z.string(), value: z.string().nullable() }),
      changed,
      admin,
    ),
    {
      ...{ method: 'GET', path: members, summary: 'Lists the named agents of a project.', ...read },
      handle: async (call) => agentsIn(await run('floor:agents', { project: call.name }, call)),
    },
    acts(
      ...(['POST', members, 'Makes a named agent a member of a project.', 'floor:agent-invite'] as const),
      z.strictObject({ participant_id: z.string() }),
      ({ name: project }, { participant_id }) => ({ project, name: agentIn(participant_id) }),
      admin,
    ),
    acts(
      ...(['DELETE', `${members}/:participant`, 'Takes a named agent out of a project.'] as const),
      'floor:agent-dismiss',
      undefined,
      ({ names: [project, participant = ''] }) => ({ project, name: agentIn(participant) }),
      admin,
    ),
  ];
}

const agentsIn = (found: unknown): readonly NamedAgent[] =>
  (found as { readonly agents: readonly NamedAgent[] }).agents;

/** The name of an agent; people are members of every project. */
function agentIn(participant: string): string {
  if (!/^(user|slack):/.test(participant)) return participant.replace(/^agent:/, '');
  throw new PolyError(
    'invalid_arguments',
    `"${participant.slice(0, 80)}" is a person, who is in every project.`,
    {
      hint: 'Name an agent, agent:dean. People come into the room by: poly people invite NAME',
    },
  );
}
