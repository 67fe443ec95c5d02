import { connect, type Socket } from 'node:net';
import { type ErrorInfo, type HubRequest, type HubResponse, PolyError } from '@polyphony/protocol';

/** Nobody listens there: nothing was sent, another socket may be tried. */
export class NobodyListens extends Error {}

/** Somebody takes calls there and answers none. */
export class NobodyAnswers extends Error {}

/** How long an answer may take before the hub is asked whether it lives, and how long that may take. */
const patienceMs = 3_000;

/**
 * One request on a unix socket. HTTP/1.0, so that an answer ends where the connection does: a few lines are enough
 * to read it, where loading node:http would take as long as everything else the command line does.
 */
export async function send(socketPath: string, request: HubRequest): Promise<HubResponse> {
  const chunks: Buffer[] = [];
  const socket = await open(socketPath, request);
  try {
    for await (const chunk of socket) chunks.push(chunk as Buffer);
  } catch (error) {
    // A hub that is killed before it has read everything resets the connection.
    throw isReset(error) ? cutOff() : error;
  }
  const { status, length, rest } = readHead(Buffer.concat(chunks));
  if (length !== undefined && rest.length < length) throw cutOff();
  return { status, body: rest.toString('utf8') };
}

export interface Streamed {
  readonly status: number;
  /** What the connection brings until it ends; leaving the loop closes it. */
  readonly body: AsyncIterable<Buffer>;
}

/** A request whose answer has no end. */
export async function stream(socketPath: string, request: HubRequest): Promise<Streamed> {
  const socket = await open(socketPath, request);
  const chunks = socket[Symbol.asyncIterator]() as AsyncIterator<Buffer>;
  let head = Buffer.alloc(0);
  while (head.indexOf(headEnd) < 0) {
    const { value, done } = await chunks.next();
    if (done) throw cutOff();
    head = Buffer.concat([head, value]);
  }
  const { status, rest } = readHead(head);
  async function* body(): AsyncGenerator<Buffer> {
    try {
      yield rest;
      for (;;) {
        const { value, done } = await chunks.next();
        if (done) return;
        yield value;
      }
    } finally {
      socket.destroy();
    }
  }
  return { status, body: body() };
}

export interface Conversing {
  readonly socket: Socket;
  /** What has come already. */
  readonly rest: Buffer;
}

/** Leaves HTTP for another protocol on the same connection, which is paused then; a hub that will not says why. */
export async function converse(
  socketPath: string,
  request: HubRequest,
  protocol: string,
): Promise<Conversing> {
  const headers = { ...request.headers, connection: 'upgrade', upgrade: protocol };
  const socket = await open(socketPath, { ...request, headers }, '1.1');
  const { promise, resolve, reject } = Promise.withResolvers<Conversing>();
  let answer = Buffer.alloc(0);
  const take = (chunk: Buffer): void => {
    answer = Buffer.concat([answer, chunk]);
    if (!answer.includes(headEnd) || readHead(answer).status !== 101) return;
    socket.off('data', take).off('error', failed).off('close', refused).pause();
    resolve({ socket, rest: readHead(answer).rest });
  };
  // A hub that is killed now has taken the call, and answers it with a reset.
  const failed = (error: Error): void => reject(isReset(error) ? cutOff() : error);
  const refused = (): void => {
    try {
      const { error } = JSON.parse(readHead(answer).rest.toString('utf8')) as { readonly error: ErrorInfo };
      reject(PolyError.from(error));
    } catch (error) {
      reject(error instanceof PolyError ? error : cutOff());
    }
  };
  socket.on('data', take).on('error', failed).on('close', refused);
  return promise;
}

const headEnd = '\r\n\r\n';

async function open(
  socketPath: string,
  { method, path, headers, body }: HubRequest,
  version: '1.0' | '1.1' = '1.0',
): Promise<Socket> {
  const socket = connect(socketPath);
  await new Promise<void>((resolve, reject) => {
    socket.once('connect', resolve);
    socket.once('error', (cause) => reject(new NobodyListens(cause.message, { cause })));
  });
  if (path === lifeSign) socket.setTimeout(patienceMs, () => socket.destroy(new NobodyAnswers()));
  else watchOver(socket, socketPath);
  const lines = Object.entries({
    host: 'poly',
    ...headers,
    ...(body !== undefined && { 'content-length': Buffer.byteLength(body) }),
  }).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.write(`${method} ${path} HTTP/${version}\r\n${lines.join('')}\r\n${body ?? ''}`);
  return socket;
}

const lifeSign = '/health';

/** Some answers take as long as they take, but a hub that lives says so at once. */
function watchOver(socket: Socket, socketPath: string): void {
  const look = setInterval(() => {
    if (socket.bytesRead > 0) return clearInterval(look);
    const alive = send(socketPath, { method: 'GET', path: lifeSign, headers: {} });
    alive.catch(() => socket.destroy(new NobodyAnswers()));
  }, patienceMs);
  socket.once('close', () => clearInterval(look));
}

function readHead(answer: Buffer): { status: number; length: number | undefined; rest: Buffer } {
  const end = answer.indexOf(headEnd);
  const head = answer.subarray(0, Math.max(end, 0)).toString('latin1');
  const status = /^HTTP\/1\.[01] (\d{3})/.exec(head)?.[1];
  if (status === undefined) throw cutOff();
  const length = /^content-length: *(\d+)\r?$/im.exec(head)?.[1];
  return {
    status: Number(status),
    length: length === undefined ? undefined : Number(length),
    rest: answer.subarray(end + headEnd.length),
  };
}

const isReset = (error: unknown): boolean =>
  ['ECONNRESET', 'EPIPE'].includes((error as NodeJS.ErrnoException).code ?? '');

const endedEarly = 'the hub ended before it had answered; it may or may not have acted.';

/** Whether the hub ended in the middle of a call. */
export const isCutOff = (error: unknown): boolean =>
  error instanceof PolyError && error.message === endedEarly;

function cutOff(): PolyError {
  return new PolyError('unreachable', endedEarly, {
    hint: 'Look first (poly ls, poly events), then start it with: poly up',
  });
}
