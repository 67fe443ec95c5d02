import { setTimeout } from 'node:timers/promises';
import { type Backend, type PaneScreen, PolyError } from '@polyphony/protocol';
import { draft, type Source } from '../events/event-log.ts';
import type { Host, HostDisk } from '../host/client.ts';
import { type ProcessGauges, processGauges } from '../platform/process-gauges.ts';
import { type Caller, isUser } from '../registry/caller.ts';
import { Adoption } from './adoption.ts';
import type { PaneBackend } from './backend.ts';
import { Endings, unknownEnding } from './endings.ts';
import { HostLink } from './host-link.ts';
import { createInputGate, type InputGate } from './input-gate.ts';
import { Lookers } from './lookers.ts';
import type { PanesOptions } from './options.ts';
import { PaneBook } from './pane-book.ts';
import type { Birth, PaneRecord } from './pane-record.ts';
import { owns } from './permit.ts';
import { createPtyBackend } from './pty-backend.ts';
import { SessionWatch } from './session-watch.ts';
import { ShownSizes, type Size } from './shown-sizes.ts';
import { Starting } from './starting.ts';
import { TmuxBackend } from './tmux-backend.ts';

interface CloseOptions {
  /** Forget its record and its output, too. */
  readonly cleanup: boolean;
  /** Who wants it; the hub itself, unless told. */
  readonly from?: Source;
}

const retryMs = 1_000;

/** Every pane of both backends: found again, looked at, and ended. */
export class Panes {
  readonly #options: PanesOptions;
  readonly #stop = new AbortController();
  readonly book: PaneBook;
  readonly link: HostLink;
  readonly gate: InputGate;
  readonly tmux: TmuxBackend;
  readonly watch: SessionWatch;
  readonly lookers: Lookers = new Lookers();
  readonly shown: ShownSizes = new ShownSizes((id, { cols, rows }) => this.resize(id, cols, rows));
  readonly starting: Starting;
  readonly #backends: Readonly<Record<Backend, PaneBackend>>;
  readonly #endings: Endings;
  readonly #adoption: Adoption;
  #watching: Promise<void> | undefined;
  /** Sizes that are wanted and not given yet. */
  readonly #sizes = new Map<string, Size>();

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
    this.starting = new Starting({
      ...options,
      book,
      backends: this.#backends,
      endings: this.#endings,
      close: (id) => this.close(id, { cleanup: false }),
      hostGauges: () => this.hostGauges(),
    });
    this.#adoption = new Adoption({
      ...options,
      book,
      tmux: this.tmux,
      endings: this.#endings,
      revive: async (record) => {
        await this.starting.revive(record);
        if (record.backend === 'tmux') this.#own(this.watch.look());
      },
      own: (work) => this.#own(work),
    });
    this.watch = new SessionWatch({
      ...options,
      meetPanes: (up) => this.#meetTmux(up),
      onShown: (tmuxPanes) => {
        const shown = book.list().filter(({ tmuxPane }) => tmuxPane !== null && tmuxPanes.includes(tmuxPane));
        this.lookers.set(
          this,
          shown.map(({ id }) => id),
        );
      },
    });
    this.gate = createInputGate({
      book,
      backendOf: (record) => this.backendOf(record),
      clock: options.clock,
      mayType: options.mayType,
    });
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

  async close(
    id: string,
    { cleanup, from = { participant: this.#options.hub } }: CloseOptions,
  ): Promise<void> {
    const record = this.book.get(id);
    if (record.status === 'running') {
      // What has taken its place meanwhile is another.
      if (!(await this.#markKilled(record))) return;
      const ending = await this.backendOf(record).end(record);
      await this.#endings.record(record, ending ?? this.book.find(id) ?? unknownEnding);
    } else await this.#endings.killLeftovers(record);
    if (!cleanup) return;
    await this.book.exclusive(id, async () => {
      if (this.book.find(id)?.tokenHash !== record.tokenHash) return;
      await this.#endings.forget(id);
      await this.book.remove(id, [draft(from, 'pane:removed', { paneId: id })]);
      this.#options.credentials.revoke(id);
    });
  }

  /** Answers whether it is still the same. */
  #markKilled({ id, tokenHash }: Birth): Promise<boolean> {
    return this.book.exclusive(id, async () => {
      const record = this.book.find(id);
      if (record?.tokenHash !== tokenHash) return false;
      if (record.status === 'running')
        await this.book.put({ ...record, killed: true }, [], { onFullDisk: true });
      return true;
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

  /** What the host uses up, as far as one is there. */
  hostGauges(): Promise<ProcessGauges | undefined> {
    return this.link.ifConnected(async ({ pid }) => processGauges(pid));
  }

  /** The panes somebody may know of: the user all, a pane those it owns, an invited person those that feed a session. */
  visibleTo(caller: Caller): readonly PaneRecord[] {
    const all = this.book.list();
    if (isUser(caller)) return all;
    const { seatOf } = this.#options;
    return all.filter(({ id }) => (caller.person === undefined ? owns(this.book, caller, id) : seatOf(id)));
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

  /** Starts the tmux session, if it is not there. */
  async startSession(): Promise<void> {
    await this.#options.session.start();
    await this.watch.look();
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

  /** Reads something of a pane from the host; what a killed host had in memory is lost. */
  output<T>(id: string, work: (host: Host) => Promise<T>): Promise<T> {
    this.book.get(id);
    return this.link.use(work).catch((error: unknown) => {
      if (!(error instanceof PolyError && error.code === 'not_found')) throw error;
      const record = this.book.find(id);
      if (record?.backend === 'tmux' && record.status === 'running')
        throw new PolyError(
          'unavailable',
          `what ${id} prints cannot be read for now: its host has ended, and the new one has not taken it yet.`,
          { hint: 'tmux keeps what it shows until then. Try again in a moment.', cause: error },
        );
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
