import { once } from 'node:events';
import type { Socket } from 'node:net';
import * as z from 'zod';
import { HostError, isHostErrorCode } from './host-error.ts';
import {
  type HubNotice,
  type Params,
  protocol,
  type RequestName,
  type Result,
  requests,
} from './requests.ts';
import { encodeFrame, type Frame, FrameParser } from './wire.ts';

interface Pending {
  resolve(answer: { readonly result: unknown; readonly body: Buffer }): void;
  reject(error: HostError): void;
}

/** How often a host that owes an answer is listened for, and how many times in a row it may be silent. */
const listenMs = 2_000;
const mostSilences = 3;

/**
 * The hub's side of one connection: requests and their answers, events, notices. A host that has been stopped takes
 * requests and answers none; it is hung up on, so that nobody waits for ever.
 */
export class Link {
  readonly events: Set<(head: unknown, body: Buffer) => void> = new Set();
  readonly closed: Set<() => void> = new Set();
  readonly #socket: Socket;
  readonly #parser = new FrameParser();
  readonly #pending = new Map<number, Pending>();
  readonly #listening: NodeJS.Timeout;
  #requests = 0;
  #silences = 0;
  #hungUp = false;

  constructor(socket: Socket) {
    this.#socket = socket;
    this.#listening = setInterval(() => this.#listen(), listenMs).unref();
    socket.on('data', (chunk) => this.#receive(chunk));
    socket.on('error', () => {}); // It closes, and that is heard.
    socket.on('close', () => {
      clearInterval(this.#listening);
      for (const { reject } of this.#pending.values()) reject(this.#hungUp ? overdue() : connectionLost());
      this.#pending.clear();
      for (const listener of this.closed) listener();
    });
  }

  get isOpen(): boolean {
    return !this.#socket.destroyed;
  }

  /** Some answers take long, but any host that lives can say hello meanwhile. */
  #listen(): void {
    if (this.#pending.size === 0) this.#silences = 0;
    else if (this.#silences++ === mostSilences) {
      this.#hungUp = true;
      this.#socket.destroy();
    } else this.ask('hello', { protocol, version: '', pid: process.pid }).catch(() => undefined); // Hung up on, and everybody hears that.
  }

  #receive(chunk: Buffer): void {
    this.#silences = 0;
    let frames: readonly Frame[];
    try {
      frames = this.#parser.push(chunk);
    } catch {
      this.#socket.destroy(); // After a broken frame nothing that follows can be understood.
      return;
    }
    for (const frame of frames) this.#take(frame);
  }

  #take({ kind, head, body }: Frame): void {
    if (kind === 'event') {
      for (const listener of this.events) listener(head, body);
      return;
    }
    const parsed = answerHead.safeParse(head);
    if (!parsed.success) return;
    const answer = parsed.data;
    const pending = this.#pending.get(answer.request);
    this.#pending.delete(answer.request);
    if (kind === 'reply') pending?.resolve({ result: answer.result, body });
    if (kind === 'failure') pending?.reject(toError(answer.error));
  }

  async ask<Name extends RequestName>(
    name: Name,
    params: Params<Name>,
    body?: Uint8Array,
  ): Promise<{ readonly result: Result<Name>; readonly body: Buffer }> {
    if (!this.isOpen) throw connectionLost();
    const request = ++this.#requests;
    const frame = encodeFrame('request', { request, name, params }, body);
    const { promise, resolve, reject } = Promise.withResolvers<{ result: unknown; body: Buffer }>();
    this.#pending.set(request, { resolve, reject });
    this.#send(frame);
    const answer = await promise;
    return { result: requests[name].result.parse(answer.result), body: answer.body };
  }

  notify(notice: HubNotice): void {
    if (this.isOpen) this.#send(encodeFrame('notice', notice));
  }

  #send(frame: readonly Uint8Array[]): void {
    this.#socket.cork();
    for (const piece of frame) this.#socket.write(piece);
    this.#socket.uncork();
  }

  async close(): Promise<void> {
    if (!this.isOpen) return;
    this.#socket.end();
    await once(this.#socket, 'close');
  }
}

const answerHead = z.object({
  request: z.int(),
  result: z.unknown().optional(),
  error: z
    .object({ code: z.string(), message: z.string(), details: z.record(z.string(), z.unknown()) })
    .optional(),
});

function toError(error: z.infer<typeof answerHead>['error']): HostError {
  const { code = 'internal', message = 'The host failed without a word.', details = {} } = error ?? {};
  return new HostError(isHostErrorCode(code) ? code : 'internal', message, details);
}

function overdue(): HostError {
  const seconds = (listenMs * mostSilences) / 1000;
  return new HostError(
    'connection_lost',
    `The terminal host takes calls and has not answered one for ${seconds} s: it may be stopped, as poly doctor would say.`,
  );
}

export function connectionLost(): HostError {
  return new HostError('connection_lost', 'The connection to the terminal host is over.');
}
