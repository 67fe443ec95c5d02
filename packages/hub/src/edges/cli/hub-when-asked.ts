import type { CallOptions, Client } from '@polyphony/protocol';
import { builtInActions } from './build.ts';
import type { Call } from './command.ts';
import { connectHub, isNoHub, readDiscovery } from './find-hub.ts';
import { isCutOff } from './socket-http.ts';

/** What is being waited for in calls that may take long. */
const waits: Readonly<Record<string, (paneId: string) => string>> = {
  'agent:message': (paneId) => `waiting until ${paneId} takes the message`,
  'pane:wait': (paneId) => `waiting for ${paneId}`,
};

/** How often a call is made that a hub was killed in. */
const mostTries = 3;

/**
 * A hub that is looked for when it is first asked, is started where it must be, and shows when it is waited for. Each
 * call has a key, so that one a hub was killed in is made again: what it had done by then it does not do twice.
 */
export function hubWhenAsked(
  around: Pick<Call, 'env' | 'out' | 'json' | 'offline'>,
  startsHub: boolean | undefined,
): Client {
  const { env, out } = around;
  let found: Client | undefined;
  let calls = 0;
  const start = async (wasKilled: boolean): Promise<Client> => {
    const { inPlaceOfLast, startHub } = await import('./start-hub.ts');
    const { started } = await startHub({ ...around, flags: inPlaceOfLast(env) });
    if (started) out.note(`poly: ${wasKilled ? killed : none}; poly server stop ends it.`);
    return connectHub(env);
  };
  const ask = async <T>(work: (hub: Client) => Promise<T>): Promise<T> => {
    try {
      found ??= connectHub(env);
      return await work(found);
    } catch (error) {
      // One that was stopped has taken its address away; one that was killed has left it behind.
      const wasKilled = readDiscovery(env) !== undefined;
      if (!isNoHub(error) || !(startsHub ?? wasKilled)) throw error;
      found = await start(wasKilled);
      return work(found);
    }
  };
  /** Asks, and again when the hub is killed meanwhile; by the key it knows that it was asked before. */
  const insist = async <T>(
    work: (hub: Client, key: CallOptions) => Promise<T>,
    onlyLooks = (): boolean => false,
  ): Promise<T> => {
    // No other process has the number of this one at the same time.
    const idempotencyKey = `poly-${process.pid}-${performance.timeOrigin}-${++calls}`;
    for (let tries = 1; ; tries++) {
      try {
        return await ask((hub) => work(hub, { idempotencyKey }));
      } catch (error) {
        const isOver = startsHub === false || tries === mostTries || readDiscovery(env) === undefined;
        if (isOver || !isCutOff(error) || onlyLooks()) throw error;
        found = await start(true);
      }
    }
  };
  const call = (name: string, params: unknown, options?: CallOptions): Promise<never> => {
    const what = waits[name]?.((params as { readonly paneId: string }).paneId) ?? name;
    return insist(
      (hub, key) => out.progress(what, hub.call(name, params, { ...key, ...options }) as Promise<never>),
      () => onlyReads(name),
    );
  };
  return {
    call,
    emit: (event, payload) => insist((hub, key) => hub.emit(event, payload, key)),
    get: (path) => ask((hub) => hub.get(path)),
    ticket: (kind) => ask((hub) => hub.ticket(kind)),
  };
}

/** What only looks has no key: whoever waits for something would wait for it from another moment on. */
const onlyReads = (name: string): boolean =>
  builtInActions().find((action) => action.name === name)?.effect === 'read';

const none = 'no hub was running, so that one was started';
const killed = 'the hub had been killed, so that it was started again';
