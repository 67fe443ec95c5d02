import { join } from 'node:path';
import type * as Tmux from '@polyphony/tmux';
import type { ConnectionOptions, Engine } from '@polyphony/tmux';
import type { Choice, Place } from '../tool.ts';
import { callerPlace, realPath } from './caller-place.ts';
import type { DrivenPanes } from './driven-panes.ts';
import { LineSearch } from './line-search.ts';
import { Listening } from './listening.ts';

export interface TmuxServersOptions {
  /** The hub's own server, which is used where no other is meant. */
  readonly hub: { readonly connection: ConnectionOptions; readonly socketPath: string };
  /** Told before something is changed: who changes it, by which tool, on which server; never what is typed. */
  readonly onChange: (change: TmuxChange) => void;
  readonly driven: DrivenPanes;
}

interface TmuxChange {
  readonly by: string;
  readonly tool: string;
  readonly socket: string;
}

/** How long a connection is kept that nobody uses; longer than any call takes. */
const idleMs = 15 * 60_000;

/** One tmux server that tools act on: the library, and the one engine all of them share. */
export interface Seat {
  readonly tmux: typeof Tmux;
  readonly engine: Engine;
  readonly connection: ConnectionOptions;
  /** The real path of its socket. */
  readonly socket: string;
  /** What it says unasked. */
  readonly listening: Listening;
  /** Looks for patterns in what its panes show. */
  readonly search: LineSearch;
}

/** The tmux servers that MCP clients act on; each is connected to when it is first used, and let go when it no longer is. */
export class TmuxServers {
  readonly #options: TmuxServersOptions;
  readonly #seats = new Map<string, { readonly seat: Promise<Seat>; timer?: NodeJS.Timeout }>();

  constructor(options: TmuxServersOptions) {
    this.#options = options;
  }

  /** The server a client means: the one its user has named, else its own, else the hub's. */
  for(choice: Choice, place: Place): Promise<Seat> {
    const { connection, socketPath } = this.#meant(choice, place);
    const socket = realPath(socketPath);
    const known = this.#seats.get(socket) ?? { seat: openSeat(connection, socket) };
    this.#seats.set(socket, known);
    clearTimeout(known.timer);
    known.timer = setTimeout(() => void this.#release(socket), idleMs).unref();
    known.seat.catch(() => this.#seats.delete(socket)); // Whoever asked is told; the next tries anew.
    return known.seat;
  }

  get driven(): DrivenPanes {
    return this.#options.driven;
  }

  get onChange(): TmuxServersOptions['onChange'] {
    return this.#options.onChange;
  }

  async close(): Promise<void> {
    await Promise.all([...this.#seats.keys()].map((socket) => this.#release(socket)));
  }

  #meant({ tmux }: Choice, place: Place): TmuxServersOptions['hub'] {
    const { hub } = this.#options;
    const { env } = hub.connection;
    const own = tmux.callerSocket ? callerPlace(place)?.socket : undefined;
    const socketPath = tmux.socketPath ?? (tmux.socketName === undefined ? own : undefined);
    if (socketPath !== undefined) return { connection: { socketPath, env }, socketPath };
    const { socketName } = tmux;
    if (socketName === undefined) return hub;
    const folder = join(env?.TMUX_TMPDIR || '/tmp', `tmux-${process.getuid?.() ?? 0}`);
    return { connection: { socketName, env }, socketPath: join(folder, socketName) };
  }

  async #release(socket: string): Promise<void> {
    const known = this.#seats.get(socket);
    this.#seats.delete(socket);
    clearTimeout(known?.timer);
    // One that could not be opened has nothing to close.
    await known?.seat
      .then(({ engine, listening }) => Promise.all([listening.close(), engine.close()]))
      .catch(() => undefined);
  }
}

/** The library is not loaded before it is needed: a hub without tmux should not carry it. */
async function openSeat(connection: ConnectionOptions, socket: string): Promise<Seat> {
  const tmux = await import('@polyphony/tmux');
  const engine = tmux.createEngine('control', connection);
  const listening = new Listening({ tmux, connection });
  return { tmux, engine, connection, socket, listening, search: new LineSearch() };
}
