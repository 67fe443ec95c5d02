import type { AgentStatus } from '@polyphony/protocol';
import type { Env } from './find-hub.ts';
import type { Hub } from './hub.ts';
import type { OpenCodeEvent } from './opencode.ts';

export interface AgentState {
  readonly status: AgentStatus;
  readonly sessionId?: string;
  readonly error?: string;
}

/** What OpenCode does, from its events: its sessions, and the children of them, taken together. */
export class StateOfEvents {
  readonly #busy = new Set<string>();
  readonly #blocked = new Set<string>();
  readonly #children = new Set<string>();
  #sessionId: string | undefined;
  #error: string | undefined;

  /** The state after an event; nothing when the event says nothing about it. */
  next({ type, properties }: OpenCodeEvent): AgentState | undefined {
    const { sessionID = '', status, info, error } = properties;
    if (type === 'session.created' && info?.id && info.parentID) this.#children.add(info.id);
    if (type === 'session.deleted' && info?.id) this.#forget(info.id);
    const change = changes[type];
    if (change === undefined && type !== 'session.deleted') return undefined;
    if (sessionID !== '' && !this.#children.has(sessionID)) this.#sessionId = sessionID;
    const what = change?.(status?.type);
    if (what === 'running') {
      this.#busy.add(sessionID);
      this.#error = undefined;
    }
    if (what === 'blocked') this.#blocked.add(sessionID);
    else this.#blocked.delete(sessionID);
    if (what === 'idle') this.#busy.delete(sessionID);
    if (what === 'error' && error?.name !== 'MessageAbortedError')
      this.#error = error?.data?.message ?? error?.name ?? 'unknown';
    return this.#state();
  }

  #state(): AgentState {
    const status =
      this.#blocked.size > 0 ? 'blocked' : this.#busy.size > 0 ? 'running' : this.#error ? 'error' : 'idle';
    return {
      status,
      ...(this.#sessionId !== undefined && { sessionId: this.#sessionId }),
      ...(status === 'error' && this.#error !== undefined && { error: this.#error.slice(0, mostError) }),
    };
  }

  #forget(session: string): void {
    for (const sessions of [this.#busy, this.#blocked, this.#children]) sessions.delete(session);
  }
}

const mostError = 4096;

/** What each event says of its session. */
const changes: Readonly<Record<string, (status?: string) => 'running' | 'blocked' | 'idle' | 'error'>> = {
  'session.status': (status) => (status === 'idle' ? 'idle' : 'running'),
  'session.error': () => 'error',
  'permission.asked': () => 'blocked',
  'permission.replied': () => 'running',
  'question.asked': () => 'blocked',
  'question.replied': () => 'running',
  'question.rejected': () => 'running',
};

/** Notes what OpenCode does with the pane it runs in, where it runs in one. */
export function createStateSync(
  hub: Hub,
  env: Env,
  onSession: (session: string) => void = () => undefined,
): (event: OpenCodeEvent) => void {
  const { POLY_PANE: paneId, POLY_TOKEN: token } = env;
  if (!paneId || !token) return () => undefined;
  const events = new StateOfEvents();
  let told = '';
  let turn = Promise.resolve<unknown>(undefined);
  return (event) => {
    const state = events.next(event);
    if (state?.sessionId !== undefined) onSession(state.sessionId);
    if (state === undefined || JSON.stringify(state) === told) return;
    told = JSON.stringify(state);
    const tell = () => hub.running.call('agent:set-state', { paneId, runtime: 'opencode', ...state });
    turn = turn.then(tell).catch(() => undefined); // The screen of the pane tells it too.
  };
}
