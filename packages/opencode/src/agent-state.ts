import type { AgentReason, AgentStatus } from '@polyphony/protocol';
import type { Env } from './find-hub.ts';
import type { Hub } from './hub.ts';
import type { OpenCodeEvent } from './opencode.ts';

export interface AgentState {
  readonly status: AgentStatus;
  readonly reason?: AgentReason;
  readonly sessionId?: string;
  readonly error?: string;
}

/** What OpenCode does, from its events: its sessions, and the children of them, taken together. */
export class StateOfEvents {
  readonly #busy = new Set<string>();
  readonly #blocked = new Map<string, AgentReason>();
  readonly #children = new Set<string>();
  #sessionId: string | undefined;
  #error: string | undefined;

  /** The state after an event; nothing when the event says nothing about it. */
  next({ type, properties }: OpenCodeEvent, now: number = Date.now()): AgentState | undefined {
    const { sessionID = '', info, error } = properties;
    if (type === 'session.created' && info?.id && info.parentID) this.#children.add(info.id);
    if (type === 'session.deleted' && info?.id) this.#forget(info.id);
    const change = changes[type];
    if (change === undefined && type !== 'session.deleted') return undefined;
    if (sessionID !== '' && !this.#children.has(sessionID)) this.#sessionId = sessionID;
    const what = change?.(properties, now);
    if (what === 'running') {
      this.#busy.add(sessionID);
      this.#error = undefined;
    }
    if (typeof what === 'object') this.#blocked.set(sessionID, what);
    else this.#blocked.delete(sessionID);
    if (what === 'idle') this.#busy.delete(sessionID);
    if (what === 'error' && error?.name !== 'MessageAbortedError')
      this.#error = error?.data?.message ?? error?.name ?? 'unknown';
    return this.#state();
  }

  #state(): AgentState {
    const status =
      this.#blocked.size > 0 ? 'blocked' : this.#busy.size > 0 ? 'running' : this.#error ? 'error' : 'idle';
    const [reason] = this.#blocked.values();
    return {
      ...{ status, ...(reason && { reason }) },
      ...(this.#sessionId !== undefined && { sessionId: this.#sessionId }),
      ...(status === 'error' && this.#error !== undefined && { error: this.#error.slice(0, mostText) }),
    };
  }

  #forget(session: string): void {
    for (const sessions of [this.#busy, this.#blocked, this.#children]) sessions.delete(session);
  }
}

type Properties = OpenCodeEvent['properties'];

/** What each event says of its session: what it does, or what it waits for. */
const changes: Readonly<
  Record<string, (properties: Properties, now: number) => 'running' | 'idle' | 'error' | AgentReason>
> = {
  'session.status': ({ status }, now) =>
    status?.type === 'idle' ? 'idle' : (limitOf(status ?? {}, now) ?? 'running'),
  'session.error': () => 'error',
  'permission.asked': ({ permission: tool, patterns = [], metadata: { command } = {} }) => ({
    kind: 'permission',
    ...(tool !== undefined && { tool: tool.slice(0, mostName) }),
    input: (typeof command === 'string' ? command : patterns.join(', ')).slice(0, mostText),
  }),
  'permission.replied': () => 'running',
  'question.asked': ({ questions: [first] = [] }) => ({
    kind: 'question',
    ...(first?.question !== undefined && { text: first.question.slice(0, mostText) }),
    ...(first?.options && {
      options: first.options.slice(0, mostOptions).map(({ label = '' }) => label.slice(0, mostName)),
    }),
  }),
  'question.replied': () => 'running',
  'question.rejected': () => 'running',
};

const [mostName, mostText, mostOptions] = [256, 4096, 32] as const;
/** What is tried again sooner needs nobody. */
const limitMs = 60_000;

/** A limit that it waits for the end of. */
function limitOf(
  { type, message, next }: NonNullable<Properties['status']>,
  now: number,
): AgentReason | undefined {
  if (type !== 'retry' || next === undefined || next < now + limitMs) return undefined;
  return {
    kind: 'rate limit',
    ...(message !== undefined && { text: message.slice(0, mostText) }),
    resetsAt: new Date(next).toISOString(),
  };
}

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
