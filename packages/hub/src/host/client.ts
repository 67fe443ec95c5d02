import type { Socket } from 'node:net';
import type * as z from 'zod';
import type { Page, PageQuery } from './byte-ring.ts';
import { HostError } from './host-error.ts';
import { connectInstance, hostDirectory } from './instance-socket.ts';
import { type LaunchOptions, launchHost, logTail, startingMs } from './launch.ts';
import { connectionLost, Link } from './link.ts';
import type { Exit } from './pty-driver.ts';
import {
  type AdoptSpec,
  type HostDisk,
  type HostHello,
  type HostPane,
  hostEvent,
  type OpenedPane,
  type OpenSpec,
  type Params,
  protocol,
  type RequestName,
  type Result,
  type SearchQuery,
  type Shown,
  type TreeSpec,
} from './requests.ts';
import type { ScreenSnapshot } from './screen.ts';
import type { SearchOutcome } from './search-threads.ts';

export type { HostDisk, HostPane, Shown } from './requests.ts';

/** Output of a pane as it comes, or a gap: bytes that the host had forgotten before they could be sent. */
export type Followed =
  | { readonly offset: number; readonly bytes: Buffer }
  | { readonly lostFrom: number; readonly lostTo: number };

/** Told how a pane has ended; `pid` as in `HostEvent`. */
export type ExitListener = (id: string, exit: Exit, pid?: number | null) => void;

/** The terminal host, as the hub sees it. Everything rejects with a `HostError`. */
export interface Host extends AsyncDisposable {
  readonly pid: number;
  readonly startTime: string;
  /** Of the program that runs as the host; an older one goes on until its last pane has ended. */
  readonly version: string;
  /** Starts a program on a terminal of its own. Its environment is what is given, with POLY_PANE, POLY_HOST and TERM. */
  open(spec: OpenSpec): Promise<OpenedPane>;
  /** Keeps the bytes of a tmux pane: pipe them into the fifo. A known id gets the same one again. */
  adopt(spec: AdoptSpec): Promise<{ readonly fifo: string }>;
  /** Puts what tmux shows of a pane that is held before what comes through its pipe, as far as it is not kept yet. */
  replay(id: string, shown: Shown): Promise<void>;
  /** A tmux pane has ended: waits until its pipe is closed and read, then marks it so. */
  finish(id: string, exit: Exit): Promise<void>;
  /** Types bytes, whole and in order; answers with their number when the terminal has taken them. */
  write(id: string, bytes: Uint8Array): Promise<number>;
  resize(id: string, cols: number, rows: number): Promise<void>;
  /** Ends a pty pane with everything it started, and answers when all is dead. */
  kill(id: string, options?: { readonly graceMs?: number }): Promise<Exit>;
  /**
   * The same for a tmux pane, by its first process. What has left its session is found only if the pane was started
   * with POLY_PANE, its id, and POLY_HOST, the host's folder.
   */
  killTree(tree: TreeSpec): Promise<void>;
  read(id: string, query?: PageQuery): Promise<Page>;
  /** Lines that match, as people read them: the last ones, the newest first, or only the first from a place on. */
  search(id: string, query: SearchQuery): Promise<SearchOutcome>;
  screen(id: string): Promise<ScreenSnapshot>;
  list(): Promise<readonly HostPane[]>;
  /** What is in files: how much, what is wrong, and which panes of hosts before this one can still be read. */
  disk(): Promise<HostDisk>;
  /** Drops an ended pane with its output. */
  forget(id: string): Promise<void>;
  /** All output from a byte on, and on until the pane ends. Who reads slowly slows nobody else. */
  follow(id: string, options?: FollowOptions): AsyncIterable<Followed>;
  /** Told of each end once, after the last byte; answers with how to stop being told. */
  onExit(listener: ExitListener): () => void;
  /** Told once, when the connection is over. */
  onClose(listener: () => void): () => void;
  /** Ends the host; with live panes only if they are to be killed. */
  stop(options?: { readonly killPanes?: boolean }): Promise<void>;
  /** Leaves the host; its panes go on. */
  close(): Promise<void>;
}

export interface FollowOptions {
  readonly from?: number;
  /** How many bytes may be under way. */
  readonly credit?: number;
  readonly signal?: AbortSignal;
}

export interface ConnectHostOptions extends Omit<LaunchOptions, 'command'> {
  /** The private folder of the host; its path must leave 12 bytes for the name of a socket. */
  readonly dir: string;
  /** Program and first arguments that run `runHost`; false never starts a host. */
  readonly spawn: readonly string[] | false;
}

/** How long a host may take to answer a greeting; one that is stopped takes the call and never does. */
const greetingMs = 5_000;
/** How much output may be under way to one follower. */
const window = 1024 * 1024;

/** Connects to the host of a folder, which is started when there is none. */
export async function connectHost(options: ConnectHostOptions): Promise<Host> {
  const dir = hostDirectory(options.dir);
  const deadline = performance.now() + startingMs;
  for (;;) {
    const socket = await connectInstance(dir);
    const host = socket && (await greet(socket, options.version ?? '0'));
    if (host) return host;
    if (options.spawn === false || performance.now() > deadline) {
      throw new HostError('host_unavailable', `No terminal host answers in ${dir}.`, {
        dir,
        log: logTail(dir),
      });
    }
    // A host that is just ending takes the call and hangs up: the next look finds it gone.
    if (!socket) await launchHost(dir, { ...options, command: options.spawn });
  }
}

/** Makes sure that we understand each other; null when the host hangs up before it answers. */
async function greet(socket: Socket, version: string): Promise<Host | null> {
  const link = new Link(socket);
  let silent = false;
  const timer = setTimeout(() => {
    silent = true;
    socket.destroy();
  }, greetingMs);
  try {
    const { result } = await link.ask('hello', { protocol, version, pid: process.pid });
    if (result.protocol.major !== protocol.major) {
      throw new HostError(
        'protocol_mismatch',
        `The terminal host speaks protocol ${result.protocol.major}, we speak ${protocol.major}.`,
        { host: result.protocol, hub: protocol, version: result.version },
      );
    }
    return createHost(link, result);
  } catch (error) {
    socket.destroy();
    if (silent)
      throw new HostError(
        'host_silent',
        `The terminal host takes calls and has not answered one for ${greetingMs / 1000} s.`,
      );
    if (error instanceof HostError && error.code === 'connection_lost') return null;
    throw error;
  } finally {
    clearTimeout(timer);
  }
}

function createHost(link: Link, { pid, startTime, version }: HostHello): Host {
  const exits = new Set<ExitListener>();
  const followers = new Map<number, FollowQueue>();
  let followed = 0;
  link.events.add((head, body) => {
    const parsed = hostEvent.safeParse(head);
    if (!parsed.success) return; // What a newer host says need not be understood.
    const event = parsed.data;
    if (event.event === 'exit') {
      const { id, pid, exitCode, exitSignal } = event;
      for (const listener of exits) listener(id, { exitCode, exitSignal }, pid);
    } else followers.get(event.follower)?.take(event, body);
  });
  link.closed.add(() => {
    for (const queue of followers.values()) queue.fail(connectionLost());
  });

  async function* follow(
    id: string,
    { from = 0, credit = window, signal }: FollowOptions = {},
  ): AsyncGenerator<Followed> {
    signal?.throwIfAborted();
    const follower = ++followed;
    const queue = new FollowQueue();
    const onAbort = (): void => queue.fail(signal?.reason);
    followers.set(follower, queue);
    signal?.addEventListener('abort', onAbort);
    try {
      await link.ask('follow', { id, follower, from, credit });
      for (;;) {
        const item = await queue.next();
        if (item === null) return;
        yield item;
        // Only what the reader has done with makes room for more.
        if ('bytes' in item) link.notify({ notice: 'credit', follower, bytes: item.bytes.length });
      }
    } finally {
      signal?.removeEventListener('abort', onAbort);
      followers.delete(follower);
      link.notify({ notice: 'unfollow', follower });
    }
  }

  const ask = async <Name extends RequestName>(name: Name, params: Params<Name>): Promise<Result<Name>> =>
    (await link.ask(name, params)).result;
  const tell = async <Name extends RequestName>(name: Name, params: Params<Name>): Promise<void> => {
    await link.ask(name, params);
  };
  return {
    pid,
    startTime,
    version,
    open: (spec) => ask('open', spec),
    adopt: (spec) => ask('adopt', spec),
    replay: async (id, { lines, begin, end }) => {
      await link.ask('replay', { id, begin, end }, Buffer.from(lines.join('\n')));
    },
    finish: (id, { exitCode, exitSignal }) => tell('finish', { id, exitCode, exitSignal }),
    write: async (id, bytes) => (await link.ask('write', { id }, bytes)).result.written,
    resize: (id, cols, rows) => tell('resize', { id, cols, rows }),
    kill: (id, { graceMs } = {}) => ask('kill', { id, graceMs }),
    killTree: (tree) => tell('killTree', tree),
    read: async (id, query) => {
      const { result, body } = await link.ask('read', { id, ...query });
      return { ...result, bytes: body };
    },
    search: (id, query) => ask('search', { id, ...query }),
    screen: (id) => ask('screen', { id }),
    list: async () => (await ask('list', {})).panes,
    disk: () => ask('disk', {}),
    forget: (id) => tell('forget', { id }),
    follow,
    onExit: (listener) => {
      exits.add(listener);
      return () => exits.delete(listener);
    },
    onClose: (listener) => {
      link.closed.add(listener);
      return () => link.closed.delete(listener);
    },
    stop: ({ killPanes = false } = {}) => tell('stop', { killPanes }),
    close: () => link.close(),
    [Symbol.asyncDispose]: () => link.close(),
  };
}

type FollowEvent = Extract<z.infer<typeof hostEvent>, { readonly follower: number }>;

/** What has come for one follower and was not taken yet; never more than its credit. */
class FollowQueue {
  readonly #items: (Followed | null)[] = [];
  #failure: unknown;
  #failed = false;
  #wake: (() => void) | null = null;

  take(event: FollowEvent, bytes: Buffer): void {
    if (event.event === 'output') this.#items.push({ offset: event.offset, bytes });
    else if (event.event === 'gap') this.#items.push({ lostFrom: event.lostFrom, lostTo: event.lostTo });
    else this.#items.push(null);
    this.#wake?.();
  }

  fail(reason: unknown): void {
    this.#failed = true;
    this.#failure = reason;
    this.#wake?.();
  }

  /** The next item; null after the last. */
  async next(): Promise<Followed | null> {
    for (;;) {
      const item = this.#items.shift();
      if (item !== undefined) return item;
      if (this.#failed) throw this.#failure;
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#wake = resolve;
      await promise;
    }
  }
}
