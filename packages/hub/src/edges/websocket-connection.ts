import { StringDecoder } from 'node:string_decoder';
import {
  type PaneNewResult,
  PolyError,
  type PtySession,
  type PtySpawn,
  paneOfSpawn,
  ptySpawnShape,
  readGiven,
} from '@polyphony/protocol';
import type { WebSocket } from 'ws';
import * as z from 'zod';
import type { Notice } from '../notices/notice.ts';
import type { Log } from '../platform/log.ts';
import type { Asker } from '../registry/ask.ts';
import type { Caller } from '../registry/caller.ts';
import type { Dispatch } from '../registry/dispatch.ts';
import { parseJson } from './json-body.ts';
import type { PtySessions } from './session-routes.ts';

/** Bytes of a pane from an absolute offset on; what is no longer kept is a gap. */
interface OutputChunk {
  readonly offset: number;
  readonly bytes: Uint8Array;
}

/** What a connection does with panes; who may is asked first. */
export interface PaneStreams extends PtySessions {
  /** Throws unless the caller may do this with the pane; the user may have to be asked. */
  permit(action: 'pane:read' | 'pane:write' | 'pane:resize', params: object, asker: Asker): Promise<void>;
  /** From a byte on, or from now on, until the pane has ended, or is no longer for the caller to see. */
  follow(paneId: string, from: number | undefined, signal: AbortSignal, caller: Caller): Promise<Following>;
  type(paneId: string, data: string, caller: Caller): Promise<void>;
  /** Gives a pane the size of the terminal that shows it on a connection, for as long as that does. */
  show(
    terminal: object,
    paneId: string,
    size: { readonly cols: number; readonly rows: number },
  ): Promise<void>;
  /** Gives it that size again, where another has changed it since. */
  use(terminal: object, paneId: string): Promise<void>;
  /** Gives a pane, or all, the sizes of those who still show them. */
  leave(terminal: object, paneId?: string): Promise<void>;
  /** Says all the panes that whoever is behind a connection has before them now. */
  look(looker: object, caller: Caller, paneIds: readonly string[]): void;
  /** Hears of agents that need somebody, if it is the user who listens. */
  onNotice(caller: Caller, listener: (notice: Notice) => void): () => void;
  /** Hears of every pane the caller may see that changed. */
  onUpdate(caller: Caller, listener: (session: PtySession) => void): () => void;
}

export interface Following {
  readonly from: number;
  readonly chunks: AsyncIterable<OutputChunk>;
}

export interface WebSocketConnectionOptions {
  readonly panes: PaneStreams;
  readonly dispatch: Dispatch;
  readonly log: Log;
}

const sessionId = z.string();
const incoming = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('session_list') }),
  z.strictObject({
    type: z.literal('subscribe'),
    sessionId,
    from: z.int().min(0).optional(),
    binary: z.boolean().optional(),
  }),
  z.strictObject({ type: z.literal('unsubscribe'), sessionId }),
  z.strictObject({
    type: z.literal('spawn'),
    subscribe: z.boolean().optional(),
    // Clients of opencode-pty have to name one; whose a pane is, the hub knows by who asks.
    parentSessionId: z.string().optional(),
    ...ptySpawnShape,
  }),
  z.strictObject({ type: z.literal('input'), sessionId, data: z.string() }),
  z.strictObject({ type: z.literal('resize'), sessionId, cols: z.int(), rows: z.int() }),
  z.strictObject({ type: z.literal('readRaw'), sessionId }),
  z.strictObject({ type: z.literal('looking'), sessionIds: z.array(sessionId).max(64) }),
]);
type Incoming = z.infer<typeof incoming>;
type Message<Type extends Incoming['type']> = Extract<Incoming, { readonly type: Type }>;

/** A reader with more than this unread makes its own stream wait, and nobody else's. */
const mostUnread = 1024 * 1024;
const headerBytes = 12;

/** Terminals over one WebSocket: output as it comes, resumable, and input as it is typed. */
export class WebSocketConnection {
  readonly #client: WebSocket;
  readonly #caller: Caller;
  readonly #panes: PaneStreams;
  readonly #dispatch: Dispatch;
  readonly #log: Log;
  readonly #gone = new AbortController();
  readonly #followed = new Map<string, AbortController>();
  /** The last of those that wait for the user, or behind one that does, by session. */
  readonly #aside = new Map<string, Promise<void>>();
  /** The last size on its way, by session. */
  readonly #sizing = new Map<string, Promise<void>>();
  #handles = 0;
  #unnotice: (() => void) | undefined;

  constructor(client: WebSocket, caller: Caller, { panes, dispatch, log }: WebSocketConnectionOptions) {
    this.#client = client;
    this.#caller = caller;
    this.#panes = panes;
    this.#dispatch = dispatch;
    this.#log = log;
    const unlisten = panes.onUpdate(caller, (session) => this.#send({ type: 'session_update', session }));
    let turn = Promise.resolve();
    let waiting = 0;
    const receive = (text: Buffer | undefined): void => {
      const size = text?.length ?? 0;
      waiting += size;
      // A message may have to wait, for an answer of the user even; meanwhile no more is taken in than this.
      if (waiting > mostUnread) client.pause();
      const taken = (): void => {
        waiting -= size;
        if (client.isPaused && waiting <= mostUnread) client.resume();
      };
      turn = turn.then(() => this.#take(text, taken));
    };
    client.on('message', (data, binary) => receive(binary ? undefined : (data as Buffer)));
    client.on('close', () => {
      unlisten();
      panes.look(this, caller, []);
      this.#unnotice?.();
      this.#gone.abort();
      this.#leave();
      for (const following of this.#followed.values()) following.abort();
    });
    receive(Buffer.from('{"type":"session_list"}'));
  }

  /**
   * Messages are seen to one after the other. One that the user is asked about steps aside, and what comes later for
   * the same session waits behind it. How many can step aside is bounded by how many questions may wait.
   */
  async #take(text: Buffer | undefined, taken: () => void): Promise<void> {
    let message: Incoming;
    try {
      message = parse(text);
    } catch (error) {
      this.#fail(error);
      return taken();
    }
    const sessionId = 'sessionId' in message ? message.sessionId : '';
    const asked = Promise.withResolvers<void>();
    const work = (): Promise<void> =>
      this.#handle(message, asked.resolve)
        .catch((error: unknown) => this.#fail(error, sessionId || undefined))
        .finally(taken);
    const ahead = this.#aside.get(sessionId);
    if (ahead) return this.#stepAside(sessionId, ahead.then(work));
    const done = work();
    const steps = asked.promise.then(() => this.#stepAside(sessionId, done));
    await Promise.race([done, steps]);
  }

  #stepAside(sessionId: string, done: Promise<void>): void {
    if (sessionId === '') return; // What starts a session or asks for all has nothing to come after.
    this.#aside.set(sessionId, done);
    void done.then(() => {
      if (this.#aside.get(sessionId) === done) this.#aside.delete(sessionId);
    });
  }

  #fail(error: unknown, sessionId?: string): void {
    const unknown = { code: 'internal', message: 'something went wrong inside the hub; its log knows more.' };
    const info = error instanceof PolyError ? error.info : unknown;
    if (info.code === 'internal') this.#log.error('a WebSocket message failed', { error });
    this.#send({ type: 'error', ...info, ...(sessionId !== undefined && { sessionId }) });
  }

  async #handle(message: Incoming, onAsked: () => void): Promise<void> {
    const asker: Asker = { caller: this.#caller, signal: this.#gone.signal, onAsked };
    switch (message.type) {
      case 'session_list':
        return this.#send({ type: 'session_list', sessions: await this.#panes.list(this.#caller) });
      case 'spawn':
        return this.#spawn(message, asker);
      case 'subscribe':
        await this.#permit(asker, 'pane:read', message);
        return this.#subscribe(message);
      case 'unsubscribe':
        this.#followed.get(message.sessionId)?.abort();
        this.#followed.delete(message.sessionId);
        this.#leave(message.sessionId);
        return this.#send({ type: 'unsubscribed', sessionId: message.sessionId });
      case 'input':
        await this.#permit(asker, 'pane:write', message, { data: message.data });
        // What is wrong with the pane, the typing tells.
        this.#panes.use(this, message.sessionId).catch(() => undefined);
        await this.#sizing.get(message.sessionId);
        return this.#panes.type(message.sessionId, message.data, this.#caller);
      case 'resize':
        await this.#permit(asker, 'pane:resize', message, { cols: message.cols, rows: message.rows });
        return this.#resize(message);
      case 'looking':
        // A person is behind this connection: whoever needs them may say so.
        this.#unnotice ??= this.#panes.onNotice(this.#caller, (notice) =>
          this.#send({ type: 'notice', notice }),
        );
        return this.#panes.look(this, this.#caller, message.sessionIds);
      case 'readRaw': {
        await this.#permit(asker, 'pane:read', message);
        const { raw } = await this.#panes.output(message.sessionId, this.#gone.signal);
        const { sessionId } = message;
        return this.#send({ type: 'readRawResponse', sessionId, rawData: raw.toString('utf8') });
      }
    }
  }

  #leave(sessionId?: string): void {
    this.#panes.leave(this, sessionId).catch((error: unknown) => {
      // One that has ended keeps its size.
      if (!(error instanceof PolyError))
        this.#log.warn('a pane keeps the size of who has gone', { sessionId, error });
    });
  }

  #permit(
    asker: Asker,
    action: Parameters<PaneStreams['permit']>[0],
    { sessionId: paneId }: { readonly sessionId: string },
    params: object = {},
  ): Promise<void> {
    return this.#panes.permit(action, { paneId, ...params }, asker);
  }

  /** Not waited for: of many sizes only the last counts. What is typed after it comes after it. */
  #resize({ sessionId, cols, rows }: Message<'resize'>): void {
    const done = this.#panes
      .show(this, sessionId, { cols, rows })
      .catch((error: unknown) => this.#fail(error, sessionId))
      .finally(() => {
        if (this.#sizing.get(sessionId) === done) this.#sizing.delete(sessionId);
      });
    this.#sizing.set(sessionId, done);
  }

  /** Whoever may see it hears of it as of every pane that is new. */
  async #spawn(
    { type: _, subscribe = false, ...spawn }: Message<'spawn'> & PtySpawn,
    asker: Asker,
  ): Promise<void> {
    const { id } = (await this.#dispatch('pane:new', paneOfSpawn(spawn), asker)) as PaneNewResult;
    if (subscribe) await this.#subscribe({ type: 'subscribe', sessionId: id, from: 0 });
  }

  async #subscribe({ sessionId, from, binary = false }: Message<'subscribe'>): Promise<void> {
    this.#followed.get(sessionId)?.abort();
    const following = new AbortController();
    this.#followed.set(sessionId, following);
    const output = await this.#panes.follow(sessionId, from, following.signal, this.#caller);
    const handle = ++this.#handles;
    this.#send({ type: 'subscribed', sessionId, handle, from: output.from });
    const frame = binary ? binaryFrames(handle) : textFrames(sessionId);
    void this.#pump(sessionId, output.chunks, frame, following.signal);
  }

  async #pump(
    sessionId: string,
    chunks: Following['chunks'],
    frame: (chunk: OutputChunk) => Buffer | string,
    signal: AbortSignal,
  ): Promise<void> {
    try {
      for await (const chunk of chunks) await this.#sendWhenThereIsRoom(frame(chunk));
    } catch (error) {
      if (!signal.aborted) this.#fail(error, sessionId);
    }
  }

  async #sendWhenThereIsRoom(frame: Buffer | string): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#client.send(frame, () => resolve()); // A closed socket ends the stream by its own event.
    if (this.#client.bufferedAmount > mostUnread) await promise;
  }

  #send(message: object): void {
    if (this.#client.bufferedAmount > 2 * mostUnread)
      this.#client.close(1013, 'you read too slowly; connect again');
    else this.#client.send(JSON.stringify(message), () => undefined);
  }
}

/** `[u32 handle][u64 byte offset][bytes]` */
function binaryFrames(handle: number): (chunk: OutputChunk) => Buffer {
  return ({ offset, bytes }) => {
    const frame = Buffer.allocUnsafe(headerBytes + bytes.length);
    frame.writeUInt32BE(handle, 0);
    frame.writeBigUInt64BE(BigInt(offset), 4);
    frame.set(bytes, headerBytes);
    return frame;
  };
}

/** A character whose bytes come in two chunks is sent whole with the second. */
function textFrames(sessionId: string): (chunk: OutputChunk) => string {
  const decoder = new StringDecoder('utf8');
  return ({ bytes }) =>
    JSON.stringify({ type: 'raw_data', sessionId, rawData: decoder.write(Buffer.from(bytes)) });
}

function parse(text: Buffer | undefined): Incoming {
  if (text === undefined) throw new PolyError('invalid_request', 'a message is JSON text, not bytes.');
  const given = parseJson('message', text);
  return readGiven(incoming, given, { what: 'the message', secrets: ['env', 'data'] });
}
