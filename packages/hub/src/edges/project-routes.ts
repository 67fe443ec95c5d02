import {
  annotationKinds,
  type FloorSession,
  type FloorSessionList,
  PolyError,
  type Project,
} from '@polyphony/protocol';
import * as z from 'zod';
import type { Caller } from '../registry/caller.ts';
import type { Dispatch } from '../registry/dispatch.ts';
import { actionRoutes, bodyOf, queryOf } from './action-routes.ts';
import { cursorIn, type FloorPlace, type FloorStreams } from './floor-streams.ts';
import type { Call, Route } from './routes.ts';

/** Events as Polaris tells them, by pages. */
interface FloorPages {
  before(
    place: FloorPlace,
    cursor: readonly [number, number] | undefined,
    limit: number,
  ): Promise<{
    readonly events: readonly { readonly seq: number; readonly timestamp: string }[];
    readonly more: boolean;
  }>;
}

export interface ProjectRoutesOptions {
  readonly dispatch: Dispatch;
  readonly streams: FloorStreams;
  readonly pages: FloorPages;
}

const name = z.string();
const mostEvents = 500;
const defaultEvents = 100;

/** Polaris's routes, each a translation into an action; names are url-decoded, streams go by ids. */
export function projectRoutes({ dispatch, streams, pages }: ProjectRoutesOptions): readonly Route[] {
  const { run, acts } = actionRoutes(dispatch);
  const one = ({ names: [project, session] }: Call) => ({ project, session });
  const placeOf = (call: Call): Promise<FloorPlace> =>
    floorPlace(dispatch, call.caller, call.names, call.signal);
  const messages = async (call: Call): Promise<unknown> => {
    const limit = limitOf(call, mostEvents);
    const { events } = await pages.before(await placeOf(call), cursorOf(call), limit);
    return events.toReversed();
  };

  const project = '/projects/:project';
  const session = `${project}/sessions/:session`;
  const read = { scope: 'floor:read' } as const;
  const write = { scope: 'floor:write' } as const;

  return [
    {
      ...{ method: 'GET', path: '/projects', summary: 'Lists the projects.', ...read },
      handle: async (call) =>
        ((await run('project:list', {}, call)) as { readonly projects: readonly Project[] }).projects,
    },
    acts(
      'POST',
      '/projects',
      'Makes a project.',
      'project:create',
      z.strictObject({ name }),
      (_, given) => given,
      {
        ...{ scope: 'floor:write', status: 201 },
      },
    ),
    acts('GET', project, 'Shows a project.', 'project:show', undefined, one1, read),
    {
      ...{ method: 'POST', path: `${project}/rename`, summary: 'Gives a project another name.', ...write },
      keyed: true,
      body: z.strictObject({ name }),
      async handle(call) {
        const { name: newName } = await bodyOf(z.strictObject({ name }), call);
        const before = (await run('project:show', one1(call), call)) as Project;
        const after = (await run('project:rename', { ...one1(call), name: newName }, call)) as Project;
        return { status: 'renamed', oldName: before.name, newName: after.name };
      },
    },
    {
      ...{
        method: 'GET',
        path: `${project}/messages`,
        summary: 'Answers the newest events of a project.',
        ...read,
      },
      query: pageQuery,
      handle: messages,
    },
    {
      ...{
        method: 'GET',
        path: `${project}/events`,
        summary: 'Streams events of a project as SSE.',
        ...read,
      },
      query: streamQuery,
      handle: (call) => stream(call),
    },
    {
      ...{ method: 'GET', path: `${project}/sessions`, summary: 'Lists the sessions of a project.', ...read },
      handle: async (call) => ((await run('floor:sessions', one1(call), call)) as FloorSessionList).sessions,
    },
    acts(
      ...(['POST', `${project}/sessions`, 'Makes a session.', 'floor:open'] as const),
      z.strictObject({ name: name.optional(), label: name.optional(), driver: name.optional() }),
      (call, { driver, ...given }) => ({
        ...one1(call),
        ...given,
        ...(driver && ownDriver(call.caller, driver)),
      }),
      { scope: 'floor:write', status: 201 },
    ),
    acts('GET', session, 'Shows a session.', 'floor:session', undefined, one, read),
    acts(
      ...([
        'POST',
        `${session}/events`,
        'Puts an event into a session, as hooks tell it.',
        'floor:record',
      ] as const),
      z.strictObject({
        payload: z.record(z.string(), z.unknown()),
        sender: name.optional(),
        vendor: name.optional(),
        event_id: name.optional(),
        at: name.optional(),
      }),
      (call, given) => ({ ...one(call), ...given }),
      { scope: 'floor:write', status: 201 },
    ),
    {
      ...{ method: 'GET', path: `${session}/events`, ...read },
      summary: 'Streams events of a session as SSE; with limit or before a page, the newest first.',
      query: { ...streamQuery, ...pageQuery },
      async handle(call) {
        const { searchParams } = call.url;
        if (!searchParams.has('limit') && !searchParams.has('before')) return stream(call);
        const limit = limitOf(call, defaultEvents);
        const { events, more } = await pages.before(await placeOf(call), cursorOf(call), limit);
        const last = events.at(-1);
        return { events, nextCursor: more && last ? `${Date.parse(last.timestamp)}.${last.seq}` : null };
      },
    },
    {
      ...{
        method: 'GET',
        path: `${session}/messages`,
        summary: 'Answers the newest events of a session.',
        ...read,
      },
      query: pageQuery,
      handle: messages,
    },
    acts(
      ...(['POST', `${session}/handoff`, 'Gives the seat to somebody, or leaves it open.'] as const),
      'floor:handoff',
      z.strictObject({ to: name.optional(), fence: z.int().optional() }),
      (call, given) => ({ ...one(call), ...given }),
    ),
    acts(
      ...(['POST', `${session}/driver`, 'Takes the seat.', 'floor:claim'] as const),
      z.strictObject({ driver: name.optional(), takeover: z.boolean().optional() }),
      (call, { driver, ...given }) => ({
        ...one(call),
        ...given,
        ...(driver && ownDriver(call.caller, driver)),
      }),
    ),
    acts(
      ...(['POST', `${session}/inject`, 'Says something to a session as advice.', 'floor:advise'] as const),
      z.strictObject({
        content: name,
        sender: name.optional(),
        to: z.enum(['agent', 'driver']).optional(),
      }),
      (call, { content, sender, ...given }) => ({
        ...one(call),
        ...given,
        text: content,
        ...(sender && ownSender(call.caller, sender)),
      }),
      { scope: 'floor:write', status: 201 },
    ),
    acts(
      ...(['POST', `${session}/label`, 'Says what a session is about.', 'floor:label'] as const),
      z.strictObject({ label: name.nullable() }),
      (call, given) => ({ ...one(call), ...given }),
    ),
    acts(
      ...(['POST', `${session}/annotations`, 'Stars, tags or marks a decision.', 'floor:annotate'] as const),
      z.strictObject({ kind: z.enum(annotationKinds), event_id: name.optional(), value: name.optional() }),
      (call, { event_id, ...given }) => ({ ...one(call), ...given, ...(event_id && { entry: event_id }) }),
      { scope: 'floor:write', status: 201 },
    ),
    acts('GET', `${session}/annotations`, 'Lists annotations.', 'floor:annotations', undefined, one, read),
    acts(
      'DELETE',
      '/annotations/:id',
      'Takes an annotation away.',
      'floor:unannotate',
      undefined,
      (call) => ({
        annotation: call.name,
      }),
    ),
    acts('GET', '/decisions', 'Lists decisions, the newest first.', 'floor:decisions', undefined, queryOf, {
      ...read,
      query: { project: 'Only of this project.', limit: '1 to 200.', before: 'Behind this annotation_id.' },
    }),
    acts(
      ...(['GET', '/search', 'Finds events by their words.', 'floor:search', undefined] as const),
      (call) => {
        const { q, ...given } = queryOf(call) as { readonly q?: string };
        if (q === undefined) throw new PolyError('invalid_arguments', 'q is missing: say what to look for.');
        return { query: q, ...given };
      },
      {
        ...read,
        query: {
          q: 'Words; one may end in *.',
          ...{ project: 'Only there.', session: 'Only there.', sender: 'Only by this participant.' },
          ...{ kind: 'Only of this kind.', tag: 'Only with this tag.', limit: '1 to 100.' },
          before_seq: 'Behind the entry with this seq.',
        },
      },
    ),
    acts('GET', '/team', 'Lists people and agents.', 'floor:team', undefined, queryOf, {
      ...read,
      query: { project: 'Only of this project.' },
    }),
  ];

  async function stream(call: Call): Promise<undefined> {
    const { request, response, url, caller } = call;
    const after = cursorIn(url, request.headers['last-event-id']);
    await streams.overSse(response, await placeOf(call), caller, after);
    return undefined;
  }
}

const streamQuery = {
  since: 'The seq of the last event seen; the header Last-Event-ID says the same.',
  ticket: 'A ticket of kind events, where no header can be sent.',
};
const pageQuery = { limit: '1 to 500; 100 when left out.', before: 'The nextCursor of the page before.' };

const one1 = ({ name }: Call) => ({ project: name });

/** The session, or the project, that a path names, by what never changes; throws where there is none. */
export async function floorPlace(
  dispatch: Dispatch,
  caller: Caller,
  [project, session]: readonly string[],
  signal: AbortSignal,
): Promise<FloorPlace> {
  const asker = { caller, signal };
  if (session === undefined)
    return { project: ((await dispatch('project:show', { project }, asker)) as Project).key };
  const found = (await dispatch('floor:session', { project, session }, asker)) as FloorSession;
  return { session: found.session_id };
}

function limitOf({ url }: Call, otherwise: number): number {
  const given = url.searchParams.get('limit');
  if (given === null) return otherwise;
  const limit = Number(given);
  if (/^\d{1,3}$/.test(given) && limit >= 1 && limit <= mostEvents) return limit;
  throw new PolyError('invalid_arguments', `limit must be 1 to ${mostEvents}, not "${given.slice(0, 40)}".`);
}

function cursorOf({ url }: Call): readonly [number, number] | undefined {
  const given = url.searchParams.get('before');
  if (given === null) return undefined;
  const [, at, seq] = /^(\d{1,15})\.(\d{1,15})$/.exec(given) ?? [];
  if (at !== undefined && seq !== undefined) return [Number(at), Number(seq)];
  throw new PolyError(
    'invalid_arguments',
    `"${given.slice(0, 40)}" is no cursor: give the nextCursor of a page.`,
  );
}

/** Whoever says something says it as itself. */
function ownSender({ participant }: Caller, sender: string): Record<string, never> {
  if (sender === participant) return {};
  throw new PolyError('forbidden', `you are ${participant}, and not "${sender.slice(0, 80)}".`, {
    hint: 'Leave sender out: the hub knows who you are.',
  });
}

/** A driver is whoever asks; somebody else takes the seat by himself. */
function ownDriver({ participant }: Caller, driver: string): Record<string, never> {
  if (driver === participant) return {};
  throw new PolyError('forbidden', `you are ${participant}, and not "${driver.slice(0, 80)}".`, {
    hint: 'Leave driver out; whoever wants the seat claims it.',
  });
}
