import {
  type PaneNewResult,
  PolyError,
  type PtySession,
  paneOfSpawn,
  ptySpawnShape,
  readGiven,
} from '@polyphony/protocol';
import * as z from 'zod';
import type { Asker } from '../registry/ask.ts';
import type { Caller } from '../registry/caller.ts';
import type { Dispatch } from '../registry/dispatch.ts';
import { keyOf } from './idempotency-key.ts';
import { readJson } from './json-body.ts';
import type { Call, Route } from './routes.ts';

/** Panes in the words of opencode-pty; what changes them goes through actions. */
export interface PtySessions {
  list(caller: Caller): Promise<readonly PtySession[]>;
  /** Everything that is kept of what a pane has printed. */
  output(paneId: string, signal: AbortSignal): Promise<{ readonly raw: Buffer; readonly plain: string }>;
}

export interface SessionRoutesOptions {
  readonly dispatch: Dispatch;
  readonly sessions: PtySessions;
}

const spawn = z.strictObject(ptySpawnShape);
const input = z.strictObject({ data: z.string() });
const done = { success: true } as const;

/** opencode-pty's REST, as a view over pty panes. */
export function sessionRoutes({ dispatch, sessions }: SessionRoutesOptions): readonly Route[] {
  const list = async (caller: Caller): Promise<readonly PtySession[]> =>
    (await sessions.list(caller)).filter(({ backend }) => backend === 'pty');
  const get = async ({ caller, name }: Pick<Call, 'caller' | 'name'>): Promise<PtySession> => {
    const found = (await list(caller)).find(({ id }) => id === name);
    if (found) return found;
    throw new PolyError('not_found', `there is no session "${name.slice(0, 128)}".`, {
      hint: 'GET /api/sessions lists them.',
    });
  };
  const act = async (
    action: string,
    params: object,
    { request, caller, signal }: Call,
    check?: Asker['check'],
  ): Promise<unknown> => dispatch(action, params, { caller, signal, ...keyOf(request), check });
  /** A repeat is answered as the first was, also when the session has gone since. */
  const actOn = async (action: string, params: object, call: Call): Promise<typeof done> => {
    await act(action, { paneId: call.name, ...params }, call, () => get(call));
    return done;
  };
  const output = async (call: Call): ReturnType<PtySessions['output']> =>
    sessions.output((await get(call)).id, call.signal);

  const one = '/api/sessions/:id';
  return [
    {
      method: 'GET',
      path: '/api/sessions',
      summary: 'Lists pty panes as sessions.',
      scope: 'pane:read',
      handle: ({ caller }) => list(caller),
    },
    {
      method: 'POST',
      path: '/api/sessions',
      summary: 'Starts a program in a pty pane.',
      scope: 'pane:spawn',
      keyed: true,
      body: spawn,
      async handle(call) {
        const params = paneOfSpawn(await read(spawn, call));
        const { id } = (await act('pane:new', params, call)) as PaneNewResult;
        return get({ ...call, name: id });
      },
    },
    {
      method: 'DELETE',
      path: '/api/sessions',
      summary: 'Ends and forgets every session the caller has.',
      scope: 'pane:write',
      keyed: true,
      async handle(call) {
        await act('pane:close-all', { backend: 'pty', cleanup: true }, call);
        return done;
      },
    },
    { method: 'GET', path: one, summary: 'Answers a session.', scope: 'pane:read', handle: get },
    {
      method: 'DELETE',
      path: one,
      summary: 'Ends a session; what it printed stays.',
      scope: 'pane:write',
      keyed: true,
      handle: (call) => actOn('pane:close', { cleanup: false }, call),
    },
    {
      method: 'DELETE',
      path: `${one}/cleanup`,
      summary: 'Ends a session and forgets it.',
      scope: 'pane:write',
      keyed: true,
      handle: (call) => actOn('pane:close', { cleanup: true }, call),
    },
    {
      method: 'POST',
      path: `${one}/input`,
      summary: 'Types into a session.',
      scope: 'pane:write',
      keyed: true,
      body: input,
      async handle(call) {
        return actOn('pane:write', await read(input, call), call);
      },
    },
    {
      method: 'GET',
      path: `${one}/buffer/plain`,
      summary: 'Answers everything kept of what a session printed, as text.',
      scope: 'pane:read',
      async handle(call) {
        const { plain } = await output(call);
        return { plain, byteLength: Buffer.byteLength(plain) };
      },
    },
    {
      method: 'GET',
      path: `${one}/buffer/raw`,
      summary: 'Answers everything kept of what a session printed, with its escapes.',
      scope: 'pane:read',
      async handle(call) {
        const { raw } = await output(call);
        return { raw: raw.toString('utf8'), byteLength: raw.length };
      },
    },
  ];
}

const read = async <T>(schema: z.ZodType<T>, { request }: Call): Promise<T> =>
  readGiven(schema, await readJson(request), { what: 'the body', secrets: ['env', 'data'] });
