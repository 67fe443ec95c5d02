import { randomBytes } from 'node:crypto';
import type { Server } from 'node:net';
import { join } from 'node:path';
import { setImmediate, setTimeout as wait } from 'node:timers/promises';
import { ByteRing, defaultLimits, type RingLimits } from './byte-ring.ts';
import { Connection, type Handlers } from './connection.ts';
import { Follower } from './follower.ts';
import { HostError } from './host-error.ts';
import { claimInstance } from './instance-socket.ts';
import { KeptOutput } from './kept-output.ts';
import { OutputBudget } from './output-budget.ts';
import { OutputDisk } from './output-disk.ts';
import { Pane, type PaneSource } from './pane.ts';
import { PipeSource } from './pipe-source.ts';
import { shareLooks, startTimeOf } from './process-table.ts';
import { killTree, type ProcessTree } from './process-tree.ts';
import type { PtyDriver } from './pty-driver.ts';
import { Remains } from './remains.ts';
import { type AdoptSpec, type OpenSpec, protocol } from './requests.ts';
import { SearchThreads } from './search-threads.ts';
import { Terminals } from './terminals.ts';

export interface HostServerOptions {
  readonly dir: string;
  /** Where output is kept that is to outlive the host; without it none does. */
  readonly panes?: string | undefined;
  readonly driver: PtyDriver;
  readonly version: string;
  /** How long the host lives on with neither a live pane nor a hub. */
  readonly idleMs: number;
  /** How long a screen is drawn that nobody looks at. */
  readonly screenIdleMs: number;
  readonly now?: () => number;
}

/** The largest answer to one `read`. */
const largestPage = 1024 * 1024;
/** The size of a pane of which only the output is left. */
const unknownSize = { cols: 80, rows: 24 };
/** How long the host waits at its end until the disk has the last output. */
const lastWriteMs = 2_000;
const nothing = { result: {} } as const;

/** Owns the panes and serves them to hubs until it is stopped or has been idle for long. */
export class HostServer {
  readonly #options: HostServerOptions;
  readonly #panes = new Map<string, Pane>();
  readonly #kills = new Map<string, Promise<void>>();
  readonly #connections = new Set<Connection>();
  readonly #pipeBuffer = Buffer.allocUnsafeSlow(64 * 1024);
  readonly #finished: PromiseWithResolvers<void> = Promise.withResolvers();
  readonly #startTime = startTimeOf(process.pid) ?? '';
  readonly #look = shareLooks();
  readonly #terminals = new Terminals();
  readonly #searches = new SearchThreads();
  readonly #budget = new OutputBudget();
  readonly #disk: OutputDisk | null;
  readonly #remains: Remains;
  #socket: Server | null = null;
  #idleTimer: NodeJS.Timeout | null = null;
  /** Programs start one after the other, with a breath between: a start blocks for milliseconds. */
  #spawning: Promise<unknown> = Promise.resolve();

  constructor(options: HostServerOptions) {
    this.#options = options;
    this.#disk = options.panes === undefined ? null : new OutputDisk(options.panes);
    this.#remains = new Remains(this.#disk, (id, output) =>
      this.#makePane({ id, ...unknownSize }, output, false),
    );
  }

  /** Answers false when another host serves this folder. */
  async start(): Promise<boolean> {
    this.#socket = await claimInstance(this.#options.dir, (socket) => {
      this.#connections.add(
        new Connection(socket, this.#handlers, (connection) => {
          this.#connections.delete(connection);
          for (const pane of connection.held) pane.replay();
          this.#checkIdle();
        }),
      );
    });
    if (this.#socket) this.#remains.find();
    this.#checkIdle();
    return this.#socket !== null;
  }

  /** Settles when the host has nothing left to do. */
  get finished(): Promise<void> {
    return this.#finished.promise;
  }

  readonly #handlers: Handlers = {
    hello: (hub, connection) => {
      if (hub.protocol.major !== protocol.major) {
        throw new HostError(
          'protocol_mismatch',
          `This host speaks protocol ${protocol.major}, the hub ${hub.protocol.major}.`,
          { host: protocol, hub: hub.protocol, version: this.#options.version },
        );
      }
      connection.peer = hub.pid;
      this.#checkIdle();
      const { version } = this.#options;
      return { result: { protocol, version, pid: process.pid, startTime: this.#startTime } };
    },
    open: async (spec) => {
      const turn = this.#spawning.then(() => setImmediate());
      this.#spawning = turn;
      await turn;
      return { result: this.#open(spec) };
    },
    adopt: async (spec, connection) => ({ result: { fifo: await this.#adopt(spec, connection) } }),
    replay: ({ id, begin, end }, connection, body) => {
      const pane = this.#pane(id);
      connection.held.delete(pane);
      pane.replay({ lines: body.toString().split('\n'), begin, end });
      return nothing;
    },
    finish: async ({ id, exitCode, exitSignal }) => {
      const pane = this.#pane(id);
      if (pane.exit === null) {
        await pane.pipe.drain();
        this.#end(pane, { exitCode, exitSignal });
        await pane.pipe.close();
      }
      return nothing;
    },
    write: async ({ id }, _connection, body) => {
      await this.#pane(id).write(body);
      return { result: { written: body.length } };
    },
    resize: async ({ id, cols, rows }) => {
      (await this.#readable(id)).resize(cols, rows);
      return nothing;
    },
    kill: async ({ id, graceMs }) => {
      const pane = this.#pane(id);
      const { pid, startTime } = pane.process;
      await this.#kill(id, { pid, startTime: pane.exit ? null : startTime }, graceMs);
      return { result: await pane.exited };
    },
    killTree: async ({ pid, startTime, id, graceMs }) => {
      await this.#kill(id, { pid, startTime: startTime ?? startTimeOf(pid) }, graceMs);
      return nothing;
    },
    read: async ({ id, ...query }) => {
      const maxBytes = Math.min(query.maxBytes ?? largestPage, largestPage);
      const pane = await this.#readable(id);
      const { bytes, ...result } = await pane.read({ ...query, maxBytes });
      return { result, body: bytes };
    },
    search: async ({ id, ...query }) => {
      const pane = await this.#readable(id);
      return { result: await pane.search(query, this.#searches) };
    },
    screen: async ({ id }) => ({ result: await (await this.#readable(id)).snapshot() }),
    list: () => ({ result: { panes: [...this.#panes.values()].map((pane) => pane.info()) } }),
    disk: () => {
      const { bytes, lost, problem } = this.#disk?.state ?? { bytes: 0, lost: 0, problem: null };
      return { result: { bytes, lost, problem, remains: this.#remains.list() } };
    },
    forget: async ({ id }) => {
      if (this.#remains.has(id)) {
        this.#remains.drop(id);
        return nothing;
      }
      const pane = this.#pane(id);
      if (pane.exit === null && pane.info().kind === 'pty') {
        throw new HostError('pane_running', `Pane ${id} still runs.`, { id });
      }
      pane.end({ exitCode: null, exitSignal: null });
      this.#panes.delete(id);
      await pane.close();
      this.#checkIdle();
      return nothing;
    },
    follow: async ({ id, follower, from, credit }, connection) => {
      const pane = await this.#readable(id);
      connection.dropFollower(follower);
      connection.followers.set(
        follower,
        new Follower({
          pane,
          follower,
          from,
          credit,
          send: (event, body) => connection.tell(event, body),
          onFinished: () => connection.dropFollower(follower),
        }),
      );
      return nothing;
    },
    stop: async ({ killPanes }) => {
      await this.stop(killPanes);
      return nothing;
    },
  };

  #pane(id: string): Pane {
    const pane = this.#panes.get(id);
    if (pane) return pane;
    throw new HostError('unknown_pane', `The host has no pane ${id}.`, { id });
  }

  /** A pane, or what is left of one. */
  async #readable(id: string): Promise<Pane> {
    return (await this.#remains.pane(id)) ?? this.#pane(id);
  }

  #open(spec: OpenSpec): { pid: number; startTime: string | null } {
    if (this.#panes.has(spec.id)) {
      throw new HostError('duplicate_pane', `There is a pane ${spec.id} already.`, { id: spec.id });
    }
    this.#remains.drop(spec.id);
    const pane = this.#newPane(spec, spec.screen ?? false);
    const process = this.#options.driver.spawn(
      {
        ...spec,
        env: { TERM: 'xterm-256color', ...spec.env, POLY_PANE: spec.id, POLY_HOST: this.#options.dir },
      },
      {
        onData: (bytes) => pane.append(bytes),
        onExit: (exit) => this.#end(pane, exit),
      },
    );
    this.#keep(pane, { kind: 'pty', process });
    if (spec.screen) pane.keepScreen();
    return { pid: process.pid, startTime: process.startTime };
  }

  async #adopt(spec: AdoptSpec, connection: Connection): Promise<string> {
    const known = this.#panes.get(spec.id);
    if (known) {
      if (spec.held) await this.#holdAgain(known, connection);
      known.pipe.expectWriter();
      return known.pipe.path;
    }
    const pane = await this.#adoptedPane(spec);
    const path = join(this.#options.dir, `${randomBytes(6).toString('hex')}.fifo`);
    const pipe = await PipeSource.make(path, this.#pipeBuffer, {
      onData: (bytes) => pane.append(bytes),
      onWriterGone: () => this.#checkIdle(),
    });
    if (this.#panes.has(spec.id)) {
      await pipe.close();
      return this.#adopt(spec, connection);
    }
    this.#keep(pane, { kind: 'pipe', pipe });
    if (spec.held) connection.held.add(pane);
    else pipe.begin();
    return path;
  }

  /** Its writer was lost: what that has left is read, and what comes next waits for what tmux shows. */
  async #holdAgain(pane: Pane, connection: Connection): Promise<void> {
    await pane.pipe.drain();
    // What lies behind a gap is read from files only.
    await Promise.race([this.#disk?.flush(), wait(lastWriteMs)]);
    pane.pipe.hold();
    connection.held.add(pane);
  }

  /** A pane of tmux that goes on where a host before this one has left it, if its output is on the disk. */
  async #adoptedPane(spec: AdoptSpec): Promise<Pane> {
    const goesOn = spec.diskBytes !== undefined && (await this.#remains.take(spec.id, limitsOf(spec)));
    if (goesOn) return this.#makePane(spec, goesOn, false);
    this.#remains.drop(spec.id);
    return this.#newPane(spec, false);
  }

  #newPane(spec: AdoptSpec | OpenSpec, drawn: boolean): Pane {
    const files = spec.diskBytes === undefined ? undefined : this.#disk?.filesOf(spec.id, spec.family);
    return this.#makePane(spec, new KeptOutput(new ByteRing(limitsOf(spec)), files ?? null), drawn);
  }

  #makePane(
    { id, cols, rows, note, answers = false, ...keep }: AdoptSpec & Pick<OpenSpec, 'answers'>,
    output: KeptOutput,
    drawn: boolean,
  ): Pane {
    if (keep.allBytes !== undefined) this.#budget.most = keep.allBytes;
    if (keep.allDiskBytes !== undefined && this.#disk) this.#disk.most = keep.allDiskBytes;
    if (keep.diskBytes !== undefined) output.keep(keep.diskBytes);
    return new Pane({
      id,
      cols,
      rows,
      output,
      terminals: this.#terminals,
      budget: this.#budget,
      memoryFamily: keep.memoryFamily,
      answers,
      screenIdleMs: drawn ? Number.POSITIVE_INFINITY : this.#options.screenIdleMs,
      note,
      createdAt: (this.#options.now ?? Date.now)(),
    });
  }

  #keep(pane: Pane, source: PaneSource): void {
    pane.start(source);
    this.#panes.set(pane.id, pane);
    this.#checkIdle();
  }

  #end(pane: Pane, exit: { exitCode: number | null; exitSignal: string | null }): void {
    if (pane.exit) return;
    pane.end(exit);
    const { id, pid } = pane.info();
    for (const connection of this.#connections) connection.tell({ event: 'exit', id, pid, ...exit });
    this.#checkIdle();
  }

  /** Whoever asks again while a pane is being killed waits for the same end. */
  #kill(id: string, leader: ProcessTree['leader'], graceMs: number | undefined): Promise<void> {
    const running = this.#kills.get(id);
    if (running) return running;
    const spare = new Set([...this.#connections].flatMap(({ peer }) => peer ?? []));
    const kill = killTree(
      { leader, mark: { pane: id, host: this.#options.dir }, spare },
      { graceMs, look: this.#look },
    ).finally(() => this.#kills.delete(id));
    this.#kills.set(id, kill);
    return kill;
  }

  /** Ends the host; with live panes only when they are to be killed. */
  async stop(killPanes: boolean): Promise<void> {
    const running = [...this.#panes.values()].filter(
      (pane) => pane.exit === null && pane.info().kind === 'pty',
    );
    if (running.length > 0 && !killPanes) {
      throw new HostError('panes_alive', `${running.length} panes still run in the host.`, {
        ids: running.map(({ id }) => id),
      });
    }
    await Promise.all(
      running.map(async (pane) => {
        const { pid, startTime } = pane.process;
        await this.#kill(pane.id, { pid, startTime }, 1_000);
        await pane.exited;
      }),
    );
    this.#finish();
  }

  #checkIdle(): void {
    const isIdle =
      [...this.#connections].every(({ peer }) => peer === null) &&
      ![...this.#panes.values()].some((pane) => pane.isLive);
    if (!isIdle && this.#idleTimer) {
      clearTimeout(this.#idleTimer);
      this.#idleTimer = null;
    }
    if (isIdle) this.#idleTimer ??= setTimeout(() => this.#finish(), this.#options.idleMs);
  }

  #finish(): void {
    this.#socket?.close();
    const written = Promise.race([this.#disk?.flush(), wait(lastWriteMs)]);
    // One turn later, so that the answer to `stop` is on its way.
    void Promise.all([setImmediate(), written]).then(() => {
      for (const connection of this.#connections) connection.close();
      this.#finished.resolve();
    });
  }
}

function limitsOf({ maxBytes, maxLines }: AdoptSpec): RingLimits {
  return { ...defaultLimits, ...(maxBytes && { maxBytes }), ...(maxLines && { maxLines }) };
}
