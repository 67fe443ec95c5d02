import type { Socket } from 'node:net';
import * as z from 'zod';
import type { Follower } from './follower.ts';
import { HostError } from './host-error.ts';
import type { Pane } from './pane.ts';
import {
  type HostEvent,
  hubNotice,
  type Params,
  type RequestName,
  type Result,
  requests,
} from './requests.ts';
import { encodeFrame, type Frame, type FrameKind, FrameParser } from './wire.ts';

/** An answer, with the bytes that travel beside it. */
export interface Answer<Name extends RequestName> {
  readonly result: Result<Name>;
  readonly body?: Uint8Array;
}

export type Handlers = {
  readonly [Name in RequestName]: (
    params: Params<Name>,
    connection: Connection,
    body: Buffer,
  ) => Answer<Name> | Promise<Answer<Name>>;
};

const requestHead = z.object({ request: z.int(), name: z.string(), params: z.unknown() });

/** One hub's side of the host: reads its requests, answers them, and owns its followers. */
export class Connection {
  readonly followers: Map<number, Follower> = new Map();
  /** Panes whose pipes wait for a word of this hub. */
  readonly held: Set<Pane> = new Set();
  /** The hub's process, known after its hello. */
  peer: number | null = null;
  readonly #socket: Socket;
  readonly #handlers: Handlers;
  readonly #parser = new FrameParser();

  constructor(socket: Socket, handlers: Handlers, onClose: (connection: Connection) => void) {
    this.#socket = socket;
    this.#handlers = handlers;
    socket.on('data', (chunk) => this.#receive(chunk));
    socket.on('error', () => {}); // It closes, and that is heard.
    socket.on('close', () => {
      for (const follower of this.followers.values()) follower.close();
      this.followers.clear();
      onClose(this);
    });
  }

  #receive(chunk: Buffer): void {
    try {
      for (const frame of this.#parser.push(chunk)) this.#take(frame);
    } catch {
      this.#socket.destroy(); // After a broken frame nothing that follows can be understood.
    }
  }

  #take({ kind, head, body }: Frame): void {
    if (kind === 'notice') this.#heed(head);
    if (kind !== 'request') return;
    const { request, name, params } = requestHead.parse(head);
    void this.#answer(name, params, body).then(
      ({ result, body: bytes }) => this.#send('reply', { request, result }, bytes),
      (error: unknown) => this.#send('failure', { request, error: describe(error) }),
    );
  }

  async #answer(name: string, params: unknown, body: Buffer): Promise<Answer<RequestName>> {
    if (!isRequestName(name)) {
      throw new HostError('unknown_request', `This host does not know the request ${name}.`, { name });
    }
    if (this.peer === null && name !== 'hello') {
      throw new HostError('protocol_mismatch', `The request ${name} came before hello.`);
    }
    return this.#run(name, params, body);
  }

  #run<Name extends RequestName>(
    name: Name,
    params: unknown,
    body: Buffer,
  ): Answer<Name> | Promise<Answer<Name>> {
    const parsed = requests[name].params.safeParse(params);
    if (!parsed.success) {
      throw new HostError('invalid_parameters', `${name}: ${z.prettifyError(parsed.error)}`, {
        issues: parsed.error.issues.map(({ path, message }) => ({ path, message })),
      });
    }
    return this.#handlers[name](parsed.data, this, body);
  }

  #heed(head: unknown): void {
    const notice = hubNotice.safeParse(head);
    if (!notice.success) return; // What a newer hub says need not be understood.
    const { follower: number } = notice.data;
    const follower = this.followers.get(number);
    if (notice.data.notice === 'credit') follower?.allow(notice.data.bytes);
    else this.dropFollower(number);
  }

  dropFollower(number: number): void {
    this.followers.get(number)?.close();
    this.followers.delete(number);
  }

  tell(event: HostEvent, body?: Uint8Array): void {
    if (this.peer !== null) this.#send('event', event, body);
  }

  #send(kind: FrameKind, head: unknown, body?: Uint8Array): void {
    if (this.#socket.destroyed) return;
    this.#socket.cork();
    for (const piece of encodeFrame(kind, head, body)) this.#socket.write(piece);
    this.#socket.uncork();
  }

  /** Ends it after what has been said. */
  close(): void {
    this.#socket.end();
  }
}

function isRequestName(name: string): name is RequestName {
  return Object.hasOwn(requests, name);
}

function describe(error: unknown): object {
  if (error instanceof HostError) return { code: error.code, message: error.message, details: error.details };
  console.error(error);
  return { code: 'internal', message: error instanceof Error ? error.message : String(error), details: {} };
}
