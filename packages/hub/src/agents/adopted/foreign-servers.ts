import type { Clock } from '../../platform/clock.ts';
import { ForeignTmux } from './foreign-tmux.ts';

/** The tmux servers of others that are followed, by their sockets. */
export class ForeignServers {
  readonly #clock: Clock;
  readonly #onShown: (server: ForeignTmux, panes: readonly string[]) => void;
  readonly #followed = new Map<string, ForeignTmux>();

  constructor(clock: Clock, onShown: (server: ForeignTmux, panes: readonly string[]) => void) {
    this.#clock = clock;
    this.#onShown = onShown;
  }

  get sockets(): readonly string[] {
    return [...this.#followed.keys()];
  }

  /** The server at a socket, which is kept from now on. */
  at(socket: string): ForeignTmux {
    return this.#open(socket, this.#followed);
  }

  /** Lends servers for one look around: each is one of its own, which nobody lets go of meanwhile. */
  async lend<T>(work: (serverAt: (socket: string) => ForeignTmux) => Promise<T>): Promise<T> {
    const lent = new Map<string, ForeignTmux>();
    try {
      return await work((socket) => this.#open(socket, lent));
    } finally {
      await closeAll(lent.values());
    }
  }

  /** Lets go of all others. */
  async keepOnly(needed: ReadonlySet<string>): Promise<void> {
    const unused = [...this.#followed.values()].filter(({ socket }) => !needed.has(socket));
    for (const { socket } of unused) this.#followed.delete(socket);
    await closeAll(unused);
  }

  async close(): Promise<void> {
    await closeAll(this.#followed.values());
  }

  #open(socket: string, among: Map<string, ForeignTmux>): ForeignTmux {
    const known = among.get(socket);
    if (known) return known;
    const server = new ForeignTmux(socket, this.#clock, (panes) => this.#onShown(server, panes));
    among.set(socket, server);
    return server;
  }
}

async function closeAll(servers: Iterable<ForeignTmux>): Promise<void> {
  await Promise.all([...servers].map((server) => server.close()));
}
