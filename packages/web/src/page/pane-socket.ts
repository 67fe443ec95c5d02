import type { Client, ErrorInfo } from '@polyphony/protocol';
import { Backoff } from './backoff.ts';

/** Who shows a pane. */
export interface PaneReader {
  readonly paneId: string;
  /** The next byte it needs; asked whenever the stream begins anew. */
  next(): number;
  take(offset: number, bytes: Uint8Array): void;
  /** The pane counts anew, from here. */
  restart(from: number): void;
  fail(error: ErrorInfo): void;
}

export interface PaneSocketOptions {
  readonly client: Client;
  readonly onState: (open: boolean) => void;
  /** A pane has changed: its size, its notes, its end. */
  readonly onChange: (paneId: string) => void;
  readonly onError: (error: ErrorInfo) => void;
}

interface Following {
  reader: PaneReader | undefined;
  /** Who showed it before: each goes on where it stopped when those after it have left. */
  waiting: readonly PaneReader[];
  state: 'idle' | 'following' | 'leaving';
  handle: number | undefined;
}

type Incoming =
  | {
      readonly type: 'subscribed';
      readonly sessionId: string;
      readonly handle: number;
      readonly from: number;
    }
  | { readonly type: 'unsubscribed'; readonly sessionId: string }
  | { readonly type: 'session_update'; readonly session: { readonly id: string } }
  | ({ readonly type: 'error'; readonly sessionId?: string } & ErrorInfo)
  | { readonly type: 'session_list' };

const headerBytes = 12;
/** The hub refuses messages of a megabyte; a character may take six bytes in JSON. */
const longestInput = 128 * 1024;
/** What was typed so shortly before a connection ended may not have come to the hub: nothing tells. */
const uncertainMs = 2_000;

const perhapsLost: ErrorInfo = {
  code: 'unreachable',
  message: 'the hub went away: what you typed last was perhaps not sent.',
};

/** One WebSocket for every pane on the page; after a loss each goes on at the byte where it stopped. */
export class PaneSocket {
  readonly #options: PaneSocketOptions;
  readonly #panes = new Map<string, Following>();
  readonly #end = new AbortController();
  #socket: WebSocket | undefined;
  #looking: readonly string[] = [];
  #typedAt: number = Number.NEGATIVE_INFINITY;

  constructor(options: PaneSocketOptions) {
    this.#options = options;
    void this.#stayConnected();
  }

  /** Brings a pane's bytes to its reader until the answered function is called. */
  follow(reader: PaneReader): () => void {
    const { paneId } = reader;
    const pane: Following = this.#panes.get(paneId) ?? {
      ...{ reader: undefined, waiting: [], state: 'idle', handle: undefined },
    };
    if (pane.reader) pane.waiting = [...pane.waiting, pane.reader];
    this.#panes.set(paneId, pane);
    this.#give(paneId, pane, reader);
    return () => {
      pane.waiting = pane.waiting.filter((one) => one !== reader);
      if (pane.reader !== reader) return;
      const next = pane.waiting.at(-1);
      pane.waiting = pane.waiting.slice(0, -1);
      this.#give(paneId, pane, next);
    };
  }

  /** What comes from now on is this reader's; of what was on its way to another it gets nothing. */
  #give(paneId: string, pane: Following, reader: PaneReader | undefined): void {
    pane.reader = reader;
    pane.handle = undefined;
    if (pane.state === 'following') {
      pane.state = 'leaving';
      this.#send({ type: 'unsubscribe', sessionId: paneId });
    } else this.#begin(paneId, pane);
  }

  /** Types into a pane; answers whether there was somebody to take it. */
  type(paneId: string, data: string): boolean {
    if (this.#socket?.readyState !== WebSocket.OPEN) return false;
    for (let at = 0; at < data.length; ) {
      const high = (data.charCodeAt(at + longestInput - 1) & 0xfc00) === 0xd800;
      const end = at + longestInput - (high ? 1 : 0);
      this.#send({ type: 'input', sessionId: paneId, data: data.slice(at, end) });
      at = end;
    }
    this.#typedAt = performance.now();
    return true;
  }

  /** Says which panes somebody has before them. */
  look(paneIds: readonly string[]): void {
    this.#looking = paneIds;
    this.#send({ type: 'looking', sessionIds: paneIds });
  }

  close(): void {
    this.#end.abort();
    this.#socket?.close();
  }

  async #stayConnected(): Promise<void> {
    const backoff = new Backoff();
    const { signal } = this.#end;
    while (!signal.aborted) {
      try {
        const { ticket } = await this.#options.client.ticket('ws');
        await this.#connect(`/ws?ticket=${ticket}`, () => backoff.reset());
      } catch {
        // The hub is away, or the key no longer good, which the stream of events tells.
      }
      this.#options.onState(false);
      await backoff.wait(signal);
    }
  }

  /** Settles when the connection is over. */
  #connect(path: string, onOpen: () => void): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const socket = new WebSocket(path);
    this.#socket = socket;
    socket.binaryType = 'arraybuffer';
    socket.onopen = () => {
      onOpen();
      this.#options.onState(true);
      this.look(this.#looking);
      for (const [paneId, pane] of this.#panes) {
        pane.state = 'idle';
        if (pane.reader) this.#begin(paneId, pane);
        else this.#panes.delete(paneId);
      }
    };
    socket.onmessage = ({ data }: MessageEvent<string | ArrayBuffer>) => {
      if (typeof data === 'string') this.#hear(JSON.parse(data) as Incoming);
      else this.#bring(data);
    };
    socket.onclose = () => {
      if (performance.now() - this.#typedAt < uncertainMs) this.#options.onError(perhapsLost);
      resolve();
    };
    return promise;
  }

  /** A pane that is being left is begun again when that has been answered, so that no old frame is taken for a new one. */
  #begin(paneId: string, pane: Following): void {
    if (!pane.reader || pane.state !== 'idle' || this.#socket?.readyState !== WebSocket.OPEN) return;
    pane.state = 'following';
    pane.handle = undefined;
    this.#send({ type: 'subscribe', sessionId: paneId, from: pane.reader.next(), binary: true });
  }

  #hear(message: Incoming): void {
    switch (message.type) {
      case 'subscribed': {
        const pane = this.#panes.get(message.sessionId);
        if (pane?.state !== 'following') return;
        pane.handle = message.handle;
        // A pane that has begun a new life counts from the beginning.
        if (pane.reader && message.from < pane.reader.next()) pane.reader.restart(message.from);
        return;
      }
      case 'unsubscribed': {
        const pane = this.#panes.get(message.sessionId);
        if (pane?.state !== 'leaving') return;
        pane.state = 'idle';
        if (pane.reader) this.#begin(message.sessionId, pane);
        else this.#panes.delete(message.sessionId);
        return;
      }
      case 'session_update':
        this.#options.onChange(message.session.id);
        return;
      case 'error': {
        const pane = message.sessionId === undefined ? undefined : this.#panes.get(message.sessionId);
        // Of a pane that is followed already not the following is refused, but what was typed.
        const isRefusal = message.code === 'forbidden' && pane?.handle !== undefined;
        if (pane?.reader && !isRefusal) pane.reader.fail(message);
        else this.#options.onError(message);
      }
    }
  }

  #bring(frame: ArrayBuffer): void {
    const view = new DataView(frame);
    const handle = view.getUint32(0);
    const pane = [...this.#panes.values()].find((one) => one.handle === handle);
    pane?.reader?.take(Number(view.getBigUint64(4)), new Uint8Array(frame, headerBytes));
  }

  #send(message: object): void {
    if (this.#socket?.readyState === WebSocket.OPEN) this.#socket.send(JSON.stringify(message));
  }
}
