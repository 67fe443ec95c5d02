import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';

export interface EventReader {
  /** Settles when so many events have come. */
  readonly done: Promise<void>;
  close(): void;
}

/** Reads a stream of events over a unix socket, and counts them without reading them further. */
export async function readEvents(
  at: { readonly socketPath: string; readonly path: string; readonly token: string },
  count: number,
): Promise<EventReader> {
  const { socketPath, path, token } = at;
  const headers = { host: 'poly', authorization: `Bearer ${token}` };
  const sent = request({ socketPath, path, headers, agent: false });
  sent.end();
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  if (response.statusCode !== 200) throw new Error(`${path} answered ${response.statusCode}`);
  const { promise, resolve } = Promise.withResolvers<void>();
  let seen = 0;
  response.on('data', (chunk: Buffer) => {
    for (let found = chunk.indexOf('\ndata:'); found >= 0; found = chunk.indexOf('\ndata:', found + 1))
      seen++;
    if (seen >= count) resolve();
  });
  response.on('error', () => undefined);
  return { done: promise, close: () => response.destroy() };
}
