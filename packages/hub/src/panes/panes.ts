import { homedir, userInfo } from 'node:os';
import { isAbsolute } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import {
  type Backend,
  type PaneNewParams,
  type PaneNewResult,
  type PaneScreen,
  type Participant,
  PolyError,
} from '@polyphony/protocol';
import { draft, type EventLog, type Source } from '../events/event-log.ts';
import type { Host, HostDisk } from '../host/client.ts';
import type { Clock } from '../platform/clock.ts';
import type { Config } from '../platform/config.ts';
import type { Log } from '../platform/log.ts';
import type { Random } from '../platform/random.ts';
import type { Ask, Asker } from '../registry/ask.ts';
import type { Caller } from '../registry/caller.ts';
import type { Credentials } from '../registry/credentials.ts';
import type { Store } from '../store/store.ts';
import { Adoption } from './adoption.ts';
import type { PaneBackend } from './backend.ts';
import { Endings, unknownEnding } from './endings.ts';
import { paneEnvironment } from './environment.ts';
import { HostLink } from './host-link.ts';
import { createInputGate, type InputGate } from './input-gate.ts';
import { PaneBook } from './pane-book.ts';
import { defaultSize, type PaneRecord } from './pane-record.ts';
import { owns, permitSpawn } from './permit.ts';
import type { Start } from './program-names.ts';
import { createPtyBackend, type Keep } from './pty-backend.ts';
import { SessionWatch } from './session-watch.ts';
import { TmuxBackend } from './tmux-backend.ts';
import type { TmuxSession } from './tmux-session.ts';

export interface PanesOptions {
  readonly store: Store;
  readonly events: EventLog;
  readonly credentials: Credentials;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly config: Config;
  readonly ask: Ask;
  readonly keep: Keep;
  readonly session: TmuxSession;
  readonly connectHost: () => Promise<Host>;
  /** The host that runs already, if one does. */
  readonly findHost: () => Promise<Host | undefined>;
  /** The environment the user has. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** How programs in panes find the hub. */
  readonly address: () => {
    readonly host: string;
    readonly socket: string;
    readonly port: number | null;
    readonly url: string | null;
  };
  readonly hub: Participant;
}

export interface CreateOptions {
  /** What it is started by. */
  readonly action: string;
  /** Variables it is given whenever it starts. */
  readonly fixedEnv?: Readonly<Record<string, string>>;
  /** Draw its screen from the start. */
  readonly drawn?: boolean;
}

interface CloseOptions {
  /** Forget its record and its output, too. */
  readonly cleanup: boolean;
  /** Who wants it; the hub itself, unless told. */
  readonly from?: Source;
}

/** What is decided about a pane before its program runs. */
type PanePlan = Omit<
  PaneRecord,
  'status' | 'exitCode' | 'exitSignal' | 'tokenHash' | 'pid' | 'startTime' | 'tmuxPane'
>;

const retryMs = 1_000;

/** Every pane of both backends: opened, found again, and ended. */
export class Panes {
  readonly #options: PanesOptions;
  readonly #stop = new AbortController();
  readonly book: PaneBook;
  readonly link: HostLink;
  readonly gate: InputGate;
  readonly tmux: TmuxBackend;
  readonly watch: SessionWatch;
  readonly #backends: Readonly<Record<Backend, PaneBackend>>;
  readonly #endings: Endings;
  readonly #adoption: Adoption;
  #watching: Promise<void> | undefined;
  /** Sizes that are wanted and not given yet. */
  readonly #sizes = new Map<string, { readonly cols: number; readonly rows: number }>();

  private constructor(options: PanesOptions, book: PaneBook) {
    this.#options = options;
    this.book = book;
    this.link = new HostLink({
      connect: options.connectHost,
      find: options.findHost,
      onConnected: (host) => this.#adoption.meetHost(host),
      onLost: () => this.#own(this.#loseHost()),
    });
    this.tmux = new TmuxBackend(options.session, this.link, {
      keep: options.keep,
      host: options.address().host,
    });
    this.#backends = { pty: createPtyBackend(this.link, options.keep), tmux: this.tmux };
    this.#endings = new Endings({ book, link: this.link, hub: options.hub, signal: this.#stop.signal });
    this.#adoption = new Adoption({
      ...options,
      book,
      tmux: this.tmux,
      endings: this.#endings,
      revive: (record) => this.#revive(record),
      own: (work) => this.#own(work),
    });
    this.watch = new SessionWatch({ ...options, meetPanes: (up) => this.#meetTmux(up) });
    this.gate = createInputGate({ book, backendOf: (record) => this.backendOf(record) });
  }

  static async open(options: PanesOptions): Promise<Panes> {
    const panes = new Panes(options, await PaneBook.load(options.store, options.events));
    for (const { id, tokenHash, family } of panes.book.list())
      options.credentials.remember(id, tokenHash, family);
    return panes;
  }

  backendOf({ backend }: PaneRecord): PaneBackend {
    return this.#backends[backend];
  }

  /** Finds every pane that lived through whatever happened to the hub, and tells once of those that did not. */
  async adopt(): Promise<void> {
    await this.#options.session
      .endOrphans()
      .catch((error: unknown) => this.#options.log.warn('orphans of tmux are left', { error }));
    const alive = this.book.list().some(({ status }) => status === 'running');
    await (alive ? this.link.use(async () => undefined) : this.link.find()).catch((error: unknown) => {
      this.#options.log.warn('the host does not answer', { error });
      this.#own(this.#findHostAgain());
    });
    await this.#adoption.settled;
    await this.watch.look();
  }

  async create(
    params: PaneNewParams,
    asker: Asker,
    { action, drawn = false, fixedEnv = {} }: CreateOptions,
  ): Promise<PaneRecord> {
    const { caller } = asker;
    const { clock, env: user, session, random } = this.#options;
    const backend = params.backend ?? ((await session.usable()) ? 'tmux' : 'pty');
    await this.#needBackend(backend);
    const id = params.id ?? `${backend === 'pty' ? 'pty' : 'pane'}_${random.hex(4)}`;
    const argv = params.argv ?? [user.SHELL || userInfo().shell || '/bin/sh'];
    const cwd = params.cwd ?? user.HOME ?? homedir();
    if (!isAbsolute(cwd)) {
      throw new PolyError('invalid_arguments', `cwd "${cwd}" must be an absolute path.`);
    }
    await this.#mayStart(asker, action, { argv, cwd, env: { ...params.env, ...fixedEnv } });
    const plan: PanePlan = {
      id,
      backend,
      title: params.title ?? argv.join(' ').slice(0, 200),
      argv,
      cwd,
      env: params.persist ? (params.env ?? {}) : {},
      fixedEnv,
      meta: params.meta ?? {},
      persist: params.persist ?? false,
      notifyOnExit: params.notifyOnExit ?? false,
      cols: params.cols ?? defaultSize.cols,
      rows: params.rows ?? defaultSize.rows,
      createdAt: clock.now(),
      createdBy: (caller.pane && this.book.find(caller.pane)?.tokenHash) || null,
      family: caller.family,
      drawn,
    };
    return this.book.exclusive(id, async () => {
      if (this.book.find(id)) {
        throw new PolyError('conflict', `there is a pane "${id}" already.`, {
          hint: 'Close it, or take another id.',
        });
      }
      return this.#start(plan, params.env ?? {}, caller);
    });
  }

  /** Starts the program of a pane anew, whether it runs or has ended; what it printed is forgotten. */
  async restart(
    id: string,
    env: Readonly<Record<string, string>> | undefined,
    asker: Asker,
    action: string,
  ): Promise<PaneRecord> {
    const { clock, credentials } = this.#options;
    const { argv, cwd, backend, tokenHash, ...record } = this.book.get(id);
    const added = env ?? record.env;
    await this.#needBackend(backend);
    await this.#mayStart(asker, action, { argv, cwd, env: { ...added, ...record.fixedEnv } });
    await this.close(id, { cleanup: false });
    return this.book.exclusive(id, async () => {
      const { killed: _, ...ended } = this.book.get(id);
      if (ended.tokenHash !== tokenHash)
        throw new PolyError('conflict', `somebody else has started ${id} anew meanwhile.`);
      credentials.revoke(id);
      await this.#endings.forget(id);
      const family = ended.family ?? tokenHash;
      const again = { ...ended, family, createdAt: clock.now(), env: ended.persist ? added : {} };
      return this.#start(again, added, asker.caller);
    });
  }

  async #needBackend(backend: Backend): Promise<void> {
    if (backend === 'pty' || (await this.#options.session.running())) return;
    throw new PolyError('unavailable', 'the tmux session is not running.', {
      hint: 'Start it with poly session start, or use a pty pane: --backend pty.',
    });
  }

  async #mayStart(asker: Asker, action: string, start: Omit<Start, 'user'>): Promise<void> {
    const { ask, config, env: user } = this.#options;
    const question = permitSpawn(config, asker.caller, action, { ...start, user });
    if (question) await ask(question, asker);
  }

  /** What whoever asked for a pane is told of it. */
  describe({ id, meta, backend, pid }: PaneRecord, asked: PaneNewParams): PaneNewResult {
    const { trouble } = this.#options.session;
    const instead = trouble !== undefined && asked.backend === undefined && backend === 'pty';
    return { id, meta, backend, pid, ...(instead && { notice: `${trouble} So this is a pty pane.` }) };
  }

  /** Runs the program of a pane and writes down that it runs. */
  async #start(plan: PanePlan, added: Readonly<Record<string, string>>, from: Source): Promise<PaneRecord> {
    const { credentials, env: user, address } = this.#options;
    const { token, hash } = credentials.issue(plan.id, plan.family);
    const planned = {
      ...plan,
      status: 'running' as const,
      exitCode: null,
      exitSignal: null,
      tokenHash: hash,
    };
    try {
      const env = paneEnvironment(user, { ...added, ...plan.fixedEnv }, { id: plan.id, token, ...address() });
      const opened = await this.#backends[plan.backend].open({ record: planned, env });
      const record: PaneRecord = { ...planned, ...opened };
      await this.book.put(record, [draft(from, 'pane:created', { paneId: plan.id })]);
      return record;
    } catch (error) {
      credentials.revoke(plan.id);
      throw error;
    }
  }

  async close(
    id: string,
    { cleanup, from = { participant: this.#options.hub } }: CloseOptions,
  ): Promise<void> {
    const record = this.book.get(id);
    if (record.status === 'running') {
      await this.#markKilled(id);
      const ending = await this.backendOf(record).end(record);
      await this.#endings.record(id, ending ?? this.book.find(id) ?? unknownEnding);
    } else await this.#endings.killLeftovers(record);
    if (!cleanup) return;
    await this.book.exclusive(id, async () => {
      // What has taken its place meanwhile is another.
      if (this.book.find(id)?.tokenHash !== record.tokenHash) return;
      await this.#endings.forget(id);
      await this.book.remove(id, [draft(from, 'pane:removed', { paneId: id })]);
      this.#options.credentials.revoke(id);
    });
  }

  async #markKilled(id: string): Promise<void> {
    await this.book.exclusive(id, async () => {
      const record = this.book.find(id);
      if (record?.status === 'running') await this.book.put({ ...record, killed: true });
    });
  }

  /** How many lines each pane has printed, as far as a host is there to tell. */
  async lineCounts(): Promise<ReadonlyMap<string, number>> {
    const listed = (await this.link.ifConnected((host) => host.list())) ?? [];
    const { remains = [] } = (await this.disk()) ?? {};
    return new Map(
      [...remains, ...listed].flatMap(({ id, lines }) => (lines === undefined ? [] : [[id, lines]])),
    );
  }

  /** How it stands with the output on the disk, as far as a host is there to tell. */
  disk(): Promise<HostDisk | undefined> {
    return this.link.ifConnected((host) => host.disk());
  }

  /** The panes somebody may know of: the user all, a pane those it owns. */
  visibleTo({ pane }: Caller): readonly PaneRecord[] {
    const all = this.book.list();
    return pane === undefined ? all : all.filter(({ id }) => owns(this.book, pane, id));
  }

  /** What a pane shows now, or showed last. */
  async screen(id: string): Promise<PaneScreen> {
    const record = this.book.get(id);
    const last = (): Promise<PaneScreen> =>
      this.output(id, async (host) => {
        // Of a pane that a host before this one had, it knows nothing but the output.
        await host.resize(id, record.cols, record.rows);
        return host.screen(id);
      });
    if (record.status === 'exited') return last();
    // A pane that has ended meanwhile has no screen any more; the host has what it showed last.
    return this.backendOf(record)
      .screen(record)
      .catch((error: unknown) => {
        if (error instanceof PolyError && error.code === 'conflict') return last();
        throw error;
      });
  }

  /** Whether a running program wants arrows in the form of an application. */
  async wantsApplicationCursor(id: string): Promise<boolean> {
    const record = this.book.get(id);
    if (record.status !== 'running') return false;
    // Of one that has ended meanwhile the typing tells.
    return this.backendOf(record)
      .screen(record)
      .then(
        ({ applicationCursor }) => applicationCursor,
        () => false,
      );
  }

  /** Of many sizes at once only the last is given to the program. */
  async resize(id: string, cols: number, rows: number): Promise<void> {
    this.#sizes.set(id, { cols, rows });
    await this.book.exclusive(id, async () => {
      const record = this.book.get(id);
      if (record.status !== 'running')
        throw new PolyError('pane_exited', `${id} has ended; it keeps its size.`);
      const size = this.#sizes.get(id);
      if (!size) return; // The one before has seen to it.
      this.#sizes.delete(id);
      await this.backendOf(record).resize(record, size.cols, size.rows);
      await this.book.put({ ...record, ...size });
    });
  }

  /** Forgets those panes somebody may know of that have ended; answers which. */
  async prune(caller: Caller): Promise<readonly string[]> {
    const ended = this.visibleTo(caller).filter(({ status }) => status === 'exited');
    const ids = ended.map(({ id }) => id);
    await Promise.all(ids.map((id) => this.close(id, { cleanup: true, from: caller })));
    return ids;
  }

  /** Ends every pane, as `stop --all` wants it. */
  async closeAll(): Promise<void> {
    await Promise.all(this.book.list().map(({ id }) => this.close(id, { cleanup: true })));
  }

  /** Ends every pane of ours inside tmux; their records and output stay. */
  async closeTmuxPanes(): Promise<void> {
    const inside = (await this.tmux.rows()).filter(({ id }) => this.book.find(id)?.status === 'running');
    await Promise.all(inside.map(({ id }) => this.close(id, { cleanup: false })));
  }

  async disconnect(): Promise<void> {
    this.#stop.abort();
    await this.watch.close();
    await this.#watching;
    await this.link.close();
  }

  async #meetTmux(up: boolean): Promise<void> {
    await this.#adoption.meetTmux();
    if (up) this.#watchDeaths();
  }

  #watchDeaths(): void {
    this.#watching ??= this.tmux
      .watch((row) => this.#own(this.#adoption.seeTmuxPane(row)), this.#stop.signal)
      .catch((error: unknown) => {
        if (!this.#stop.signal.aborted) this.#options.log.info('tmux has gone', { error });
      })
      .finally(() => {
        this.#watching = undefined;
        if (!this.#stop.signal.aborted) this.#own(this.watch.look());
      });
  }

  /** Starts the command of a pane again that was lost and is meant to outlive that. */
  async #revive(record: PaneRecord): Promise<void> {
    if (!record.persist) return;
    const { session, hub, credentials, clock, log } = this.#options;
    const again = { ...record, family: record.family ?? record.tokenHash, createdAt: clock.now() };
    try {
      if (record.backend === 'tmux') await session.start();
      await this.book.exclusive(record.id, async () => {
        credentials.revoke(record.id);
        await this.#endings.forget(record.id);
        await this.#start(again, record.env, { participant: hub });
      });
      if (record.backend === 'tmux') this.#own(this.watch.look());
    } catch (error) {
      log.error('a pane that is to persist could not be started again', { pane: record.id, error });
    }
  }

  /** Reads something of a pane from the host; what a killed host had in memory is lost. */
  output<T>(id: string, work: (host: Host) => Promise<T>): Promise<T> {
    this.book.get(id);
    return this.link.use(work).catch((error: unknown) => {
      if (!(error instanceof PolyError && error.code === 'not_found')) throw error;
      throw new PolyError('unavailable', `what ${id} printed was lost with the host that kept it.`, {
        hint: 'What is to outlive a host is kept on the disk: keep = "disk" under [output] in config.toml.',
        cause: error,
      });
    });
  }

  /** Looks after work that nobody waits for. */
  #own(work: Promise<unknown>): void {
    work.catch((error: unknown) => {
      if (!this.#stop.signal.aborted) this.#options.log.error('a pane could not be followed', { error });
    });
  }

  async #loseHost(): Promise<void> {
    this.#options.log.warn('the host has gone');
    await this.#findHostAgain();
  }

  /** However long that takes: meanwhile whoever asks hears that it does not answer. */
  async #findHostAgain(): Promise<void> {
    const { signal } = this.#stop;
    while (!signal.aborted) {
      try {
        return await this.link.use(async () => undefined);
      } catch (error) {
        this.#options.log.warn('the host does not answer', { error });
        await setTimeout(retryMs, undefined, { signal, ref: false }).catch(() => undefined); // Aborted: the loop ends.
      }
    }
  }
}
