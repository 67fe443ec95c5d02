import { type Client, PolyError } from '@polyphony/protocol';
import type { Env } from './env.ts';
import { uniqueId } from './unique-id.ts';

/**
 * Calls an action on a pane that may be named by the beginning of its id. The id is tried as it is first: only when
 * nobody has it is the list read, so that an exact id costs one request and always wins.
 */
export async function callOnPane<T>(
  hub: Client,
  action: string,
  params: { readonly paneId: string },
): Promise<T> {
  try {
    return (await hub.call(action, params)) as T;
  } catch (error) {
    if (!(error instanceof PolyError)) throw error;
    if (isAboutPane(error))
      throw new PolyError(error.code, `"${params.paneId}" is no id of a pane.`, {
        hint: 'poly ls shows them.',
      });
    if (error.code !== 'not_found') throw error;
    const full = action.startsWith('agent:') ? fullAgentId : fullPaneId;
    const paneId = await full(hub, params.paneId);
    if (paneId === params.paneId) throw error;
    return (await hub.call(action, { ...params, paneId })) as T;
  }
}

function isAboutPane({ code, details }: PolyError): boolean {
  return code === 'invalid_arguments' && Array.isArray(details) && details[0]?.path?.[0] === 'paneId';
}

/** The id of a pane that is there. */
export async function knownPaneId(hub: Client, start: string, env: Env): Promise<string> {
  const id = await fullPaneId(hub, start);
  const panes = await hub.call('pane:list', {});
  if (panes.some((pane) => pane.id === id)) return id;
  throw noPane(start, env);
}

/** A pane is not told whether others exist; only that it sees none. */
export function noPane(start: string, { POLY_TOKEN, POLY_PANE = 'this one' }: Env): PolyError {
  return POLY_TOKEN
    ? new PolyError('not_found', `there is no pane "${start}" that ${POLY_PANE} may see.`, {
        hint: 'poly ls shows those it made; for another one run it outside of a pane.',
      })
    : new PolyError('not_found', `there is no pane "${start}".`, { hint: 'poly ls shows every pane.' });
}

/** The id that begins so, or the word itself when none does. */
export async function fullPaneId(hub: Client, start: string): Promise<string> {
  const panes = await hub.call('pane:list', {});
  return uniqueId(
    start,
    panes.map(({ id }) => id),
  );
}

/** Likewise of an agent, which may run in no pane of ours. */
async function fullAgentId(hub: Client, start: string): Promise<string> {
  const [panes, agents] = await Promise.all([
    hub.call('pane:list', {}),
    hub.call('agent:list', {}).catch(() => []), // A hub from before that action.
  ]);
  return uniqueId(start, [...new Set([...panes, ...agents].map(({ id }) => id))]);
}
