import { type ClientRequest, type IncomingMessage, request } from 'node:http';
import { type HubRequest, type HubResponse, PolyError } from '@polyphony/protocol';

/** Nobody listens there: nothing was sent. */
export class NobodyListens extends Error {}

/** One request on a unix socket. */
export async function send(
  socketPath: string,
  asked: HubRequest,
  signal?: AbortSignal,
): Promise<HubResponse> {
  const response = await open(socketPath, asked, signal);
  let body = '';
  for await (const chunk of response.setEncoding('utf8')) body += chunk;
  return { status: response.statusCode ?? 0, body };
}

/** A request whose answer is read as it comes. */
export function open(
  socketPath: string,
  { method, path, headers, body }: HubRequest,
  signal?: AbortSignal,
): Promise<IncomingMessage> {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  const options = {
    socketPath,
    method,
    path,
    headers: { host: 'poly', ...headers },
    ...(signal && { signal }),
  };
  const sent: ClientRequest = request(options, resolve);
  sent.on('error', (cause: NodeJS.ErrnoException) => reject(signal?.aborted ? cause : failure(cause)));
  sent.end(body);
  return promise;
}

/** What a socket says where nothing listens on it; Bun 1.3.14 has a code of its own for that. */
const nobody = new Set(['ENOENT', 'ECONNREFUSED', 'FailedToOpenSocket', 'ConnectionRefused']);

function failure(cause: NodeJS.ErrnoException): Error {
  if (nobody.has(cause.code ?? '')) return new NobodyListens(cause.message, { cause });
  return new PolyError(
    'unreachable',
    `the hub did not answer (${cause.message}); it may or may not have acted.`,
    {
      cause,
      hint: 'Look first, with pty_list.',
    },
  );
}
