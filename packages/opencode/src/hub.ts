import { createHmac } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import {
  type Client,
  createClient,
  type HubRequest,
  type HubResponse,
  inAgentWords,
  PolyError,
  paneTools,
} from '@polyphony/protocol';
import { type Env, findHub, type HubKey } from './find-hub.ts';
import { runPoly } from './poly-command.ts';
import { NobodyListens, open, send } from './socket-http.ts';

/** The hub of this machine, wherever it is by now. */
export interface Hub {
  /** Starts it when none runs; `signal` gives up on the answer. */
  client(signal?: AbortSignal): Client;
  /** Refuses when none runs. */
  readonly running: Client;
  /** A stream of a hub that runs already. */
  stream(path: string, headers: HubRequest['headers'], signal: AbortSignal): Promise<IncomingMessage>;
  /** Where its page is, when it runs and has one. */
  url(): string | undefined;
  /** A mark that only whoever holds our credential can make. */
  seal(text: string): string;
}

export function createHub(env: Env): Hub {
  let starting: Promise<string> | undefined;
  const startOnce = (): Promise<string> => {
    starting ??= runPoly(['server', 'start'], env).finally(() => (starting = undefined));
    return starting;
  };

  // The token is looked up with the socket, at each call: a hub with a new home has a new one.
  const withToken = (asked: HubRequest, token: string): HubRequest => ({
    ...asked,
    headers: { ...asked.headers, authorization: `Bearer ${token}` },
  });
  const ask = (asked: HubRequest, signal?: AbortSignal): Promise<HubResponse> =>
    atHub(findHub(env), (socket, token) => send(socket, withToken(asked, token), signal));
  const askOrStart = (asked: HubRequest, signal?: AbortSignal): Promise<HubResponse> =>
    ask(asked, signal).catch(async (error: unknown) => {
      if (!(error instanceof NobodyListens)) throw error;
      await startOnce();
      return ask(asked, signal);
    });

  return {
    client: (signal) => createClient({ token: '', transport: (asked) => askOrStart(asked, signal) }),
    running: createClient({ token: '', transport: (asked) => ask(asked) }),
    stream: (path, headers, signal) =>
      atHub(findHub(env), (socket, token) =>
        open(socket, withToken({ method: 'GET', path, headers }, token), signal),
      ),
    url: () => findHub(env)?.url,
    seal(text) {
      const { token } = findHub(env) ?? {};
      if (token === undefined) throw new NobodyListens('no hub is running.');
      return createHmac('sha256', token).update(text).digest('hex');
    },
  };
}

/** Asks at the first socket where somebody listens. */
async function atHub<T>(
  key: HubKey | undefined,
  carry: (socket: string, token: string) => Promise<T>,
): Promise<T> {
  for (const socket of key?.sockets ?? []) {
    try {
      return await carry(socket, key?.token ?? '');
    } catch (error) {
      if (!(error instanceof NobodyListens)) throw error;
    }
  }
  throw new NobodyListens('no hub is running.');
}

/** What is told to the agent of a failure. */
export function failureText(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (!(error instanceof PolyError) || !error.hint) return error.message;
  return `${error.message} ${inAgentWords(error.hint, (tool) => tool in paneTools)}`;
}
