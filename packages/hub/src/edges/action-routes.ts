import { readGiven } from '@polyphony/protocol';
import type * as z from 'zod';
import type { Dispatch } from '../registry/dispatch.ts';
import { keyOf } from './idempotency-key.ts';
import { readJson } from './json-body.ts';
import type { Call, Route } from './routes.ts';

export interface ActionRoutes {
  /** Runs an action for who has sent a request. */
  run(action: string, params: object, call: Call): Promise<unknown>;
  /** A route that is one action, with what its path and its body say. */
  acts<T extends object>(
    method: Route['method'],
    path: string,
    summary: string,
    action: string,
    body: z.ZodType<T> | undefined,
    params: (call: Call, given: T) => object,
    more?: Pick<Route, 'scope'> & Partial<Pick<Route, 'status' | 'query'>>,
  ): Route;
}

/** Makes routes that are translations into actions. */
export function actionRoutes(dispatch: Dispatch): ActionRoutes {
  const run: ActionRoutes['run'] = (action, params, { request, caller, signal }) =>
    dispatch(action, params, { caller, signal, ...keyOf(request) });
  return {
    run,
    acts: (method, path, summary, action, body, params, more = { scope: 'floor:write' }) => ({
      ...{ method, path, summary, ...(method !== 'GET' && { keyed: true }), ...more, ...(body && { body }) },
      handle: async (call) =>
        run(action, params(call, body ? await bodyOf(body, call) : ({} as never)), call),
    }),
  };
}

export const bodyOf = async <T>(schema: z.ZodType<T>, { request }: Call): Promise<T> =>
  readGiven(schema, await readJson(request), { what: 'the body', secrets: ['payload', 'value'] });

const numbers: ReadonlySet<string> = new Set(['limit', 'before_seq']);

/** What the query says, as an action takes it. */
export function queryOf({ url }: Call): object {
  const given = [...url.searchParams].filter(([word]) => word !== 'ticket');
  return Object.fromEntries(
    given.map(([word, value]) => [word, numbers.has(word) && /^\d+$/.test(value) ? Number(value) : value]),
  );
}
