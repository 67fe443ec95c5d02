import { setTimeout } from 'node:timers/promises';
import type { Participant } from '@polyphony/protocol';
import { draft } from '../events/event-log.ts';
import type { Host, HostPane, Shown } from '../host/client.ts';
import { HostError } from '../host/host-error.ts';
import { startTimeOf } from '../host/process-table.ts';
import type { Log } from '../platform/log.ts';
import { Turns } from '../platform/turns.ts';
import type { Credentials } from '../registry/credentials.ts';
import type { OpenedPane } from './backend.ts';
import { type Endings, unknownEnding } from './endings.ts';
import type { PaneBook } from './pane-book.ts';
import { noteOf, type PaneRecord, sharesOf } from './pane-record.ts';
import type { Keep } from './pty-backend.ts';
import type { TmuxBackend } from './tmux-backend.ts';
import type { TmuxPaneRow } from './tmux-pane-row.ts';

export interface AdoptionOptions {
  readonly book: PaneBook;
  readonly tmux: TmuxBackend;
  readonly endings: Endings;
  readonly credentials: Credentials;
  readonly keep: Keep;
  readonly hub: Participant;
  readonly log: Log;
  /** Starts the command of a lost pane again. */
  readonly revive: (record: PaneRecord) => Promise<void>;
  /** Looks after work that nobody waits for. */
  readonly own: (work: Promise<unknown>) => void;
}

/** How long a host that is met may take to take panes of tmux, before it is used for others. */
const patienceMs = 2_000;
const retryMs = 1_000;

const isLost = (error: unknown): boolean => error instanceof HostError && error.code === 'connection_lost';

/** How a pane ended was written down if anybody knew. */
const isUntold = ({ exitCode, exitSignal }: PaneRecord): boolean => exitCode === null && exitSignal === null;

const nothingShown: Shown = { lines: [], end: '' };

/** Makes the book agree with what the host and tmux really have, whichever of them was away. */
export class Adoption {
  readonly #options: AdoptionOptions;
  /** Panes of tmux of which something is being written down. */
  readonly #busy = new Set<string>();
  /** The host that was met last. */
  #host: Host | undefined;
  /** Panes of tmux that are being piped, and to which host. */
  readonly #piping = new Map<string, Host>();
  /** Panes that tmux could not be asked for when that host was met. */
  #untaken: Set<string> = new Set();
  #settled: Promise<unknown> = Promise.resolve();
  readonly #revivals = new Turns();

  constructor(options: AdoptionOptions) {
    this.#options = options;
  }

  /** Done when the panes of the last host we met are as the book says. */
  get settled(): Promise<unknown> {
    return this.#settled;
  }

  /** Compares what the host has with what the book says. */
  async meetHost(host: Host): Promise<void> {
    const { tmux, endings, own } = this.#options;
    host.onExit((id, ending, pid) => {
      // Of a pipe tmux knows how its program has ended.
      if (pid !== null) own(endings.recordHosted(id, ending, pid));
    });
    const hosted = new Map((await host.list()).map((pane) => [pane.id, pane]));
    for (const pane of hosted.values()) await this.#recall(pane);
    const listed = await tmux.rows().catch(() => undefined);
    const rows = listed ?? [];
    // The panes of a tmux that does not answer are taken when it does.
    this.#untaken = new Set(listed ? [] : this.#running('tmux').map(({ id }) => id));
    this.#host = host;
    for (const row of rows) await this.#recallTmux(row, hosted.get(row.id));
    await this.#dropUnknown(host);
    // One that cannot be piped, or waits for a disk, must not cost the others their host.
    const piped = rows.map((row) => this.#pipeTo(host, row, hosted.has(row.id)));
    await Promise.race([Promise.allSettled(piped), setTimeout(patienceMs, undefined, { ref: false })]);
    rows.forEach((row, index) => {
      own(this.#seeThrough(host, row, Promise.resolve(piped[index])));
    });
    // Not awaited here: a change of one of these panes may be what waits for the host.
    this.#settled = Promise.all(
      this.#running('pty').map((record) => this.#compare(record, hosted.get(record.id))),
    );
    own(this.#settled);
  }

  /** Removes the output of panes that nobody knows of any more. */
  async #dropUnknown(host: Host): Promise<void> {
    const { book, log } = this.#options;
    try {
      const { remains } = await host.disk();
      for (const { id } of remains) if (!book.find(id)) await host.forget(id);
    } catch (error) {
      log.warn('output on the disk could not be looked through', { error }); // A host that is older than we are keeps none.
    }
  }

  /** Compares what tmux has with what the book says. */
  async meetTmux(): Promise<void> {
    const { tmux, log } = this.#options;
    const running = this.#running('tmux');
    if (running.length === 0) return;
    const rows = await tmux.knownRows();
    for (const row of rows) await this.seeTmuxPane(row);
    const there = new Set(rows.map(({ id }) => id));
    const gone = running.filter((record) => !there.has(record.id) && this.#stillRuns(record));
    if (gone.length === 0) return;
    const elsewhere = await tmux.elsewhere(gone.filter(isUntold));
    for (const { id } of elsewhere)
      log.warn('a pane lives on a tmux server that this hub does not find', { pane: id });
    // One whose processes will not end must not keep the others running in the book.
    await Promise.all(
      gone.filter((record) => !elsewhere.includes(record)).map((record) => this.#bury(record)),
    );
  }

  /** Writes down the end of a pane that tmux has no more. */
  async #bury(record: PaneRecord): Promise<void> {
    const { endings, revive } = this.#options;
    const lost = isUntold(record);
    if (lost) await endings.killLeftovers(record);
    await endings.finish(record, record);
    await endings.record(record, record);
    // The first makes the tmux session for all of them.
    if (lost) await this.#revivals.take('', () => revive(record));
  }

  /** Takes to heart how tmux says a pane is. */
  async seeTmuxPane(row: TmuxPaneRow): Promise<void> {
    const { id, tmuxPane, dead } = row;
    if (this.#busy.has(tmuxPane)) return;
    if (!dead && this.#options.book.find(id)?.pid === row.pid) return this.#pipeIfLost(row);
    this.#busy.add(tmuxPane);
    try {
      await (dead ? this.#takeAway(row) : this.#meetAnotherProcess(row));
    } finally {
      this.#busy.delete(tmuxPane);
    }
  }

  /** Somebody has put another program into the pane by hand. */
  async #meetAnotherProcess({ id, pid, tmuxPane }: TmuxPaneRow): Promise<void> {
    const { book } = this.#options;
    await book.exclusive(id, async () => {
      const record = book.find(id);
      if (record?.status === 'running' && record.tmuxPane === tmuxPane)
        await book.put({ ...record, pid, startTime: startTimeOf(pid) });
    });
  }

  /** Only a pane that is taken away closes its pipe, so that how it ended is written down before. */
  async #takeAway({ id, tmuxPane, exitCode, exitSignal }: TmuxPaneRow): Promise<void> {
    const { book, tmux, endings } = this.#options;
    const ending = { exitCode, exitSignal };
    const record = await book.exclusive(id, async () => {
      const known = book.find(id);
      if (known?.tmuxPane !== tmuxPane) return undefined;
      if (known.status === 'running') await book.put({ ...known, ...ending }, [], { onFullDisk: true });
      return known;
    });
    if (!record) return;
    await tmux.dispose(record);
    await endings.finish(record, ending);
    await endings.record(record, ending);
  }

  #running(backend: PaneRecord['backend']): readonly PaneRecord[] {
    return this.#options.book
      .list()
      .filter((record) => record.backend === backend && record.status === 'running');
  }

  /** It may have ended, and another may have taken its place, while something was looked at. */
  #stillRuns({ id, tokenHash }: PaneRecord): boolean {
    const current = this.#options.book.find(id);
    return current?.tokenHash === tokenHash && current.status === 'running';
  }

  async #compare(record: PaneRecord, hosted: HostPane | undefined): Promise<void> {
    const { endings, revive } = this.#options;
    if (hosted?.status === 'running') return;
    if (!hosted) await endings.killLeftovers(record);
    await endings.record(record, hosted ?? unknownEnding);
    if (!hosted) await revive(record);
  }

  /** A pane that the host has and the book does not: its creation was never written down. */
  async #recall(pane: HostPane): Promise<void> {
    if (pane.kind === 'pty')
      await this.#writeDown(pane, { pid: pane.pid ?? 0, startTime: pane.startTime, tmuxPane: null });
  }

  async #recallTmux({ pid, tmuxPane }: TmuxPaneRow, pane: HostPane | undefined): Promise<void> {
    if (pane) await this.#writeDown(pane, { pid, startTime: startTimeOf(pid), tmuxPane });
  }

  async #writeDown({ id, note }: HostPane, opened: OpenedPane): Promise<void> {
    const { book, credentials, hub } = this.#options;
    if (book.find(id) || !note) return;
    const record = JSON.parse(note) as PaneRecord;
    credentials.remember(id, record.tokenHash, record.family);
    await book.put({ ...record, ...opened }, [draft({ participant: hub }, 'pane:created', { paneId: id })]);
  }

  /** Without a pipe tmux passes nothing on: one that somebody has cut, or whose writer was killed, is laid again. */
  async #pipeIfLost(row: TmuxPaneRow): Promise<void> {
    const host = this.#host;
    const isTaken = !this.#untaken.has(row.id);
    if (!host || (row.piped && isTaken) || this.#piping.get(row.id) === host) return;
    this.#piping.set(row.id, host);
    // It may have been piped since it was looked at.
    const rows = await this.#options.tmux.rows().catch(() => []);
    const now = rows.find((each) => each.tmuxPane === row.tmuxPane && each.id === row.id);
    await this.#seeThrough(host, row, now ? this.#pipeTo(host, now, isTaken) : Promise.resolve());
  }

  /** Goes on until a pane is piped, or there is nobody to pipe it to. */
  async #seeThrough(host: Host, row: TmuxPaneRow, piped: Promise<void>): Promise<void> {
    await piped.catch((error: unknown) => this.#pipeLater(host, row, error));
    this.#untaken.delete(row.id);
    if (this.#piping.get(row.id) === host) this.#piping.delete(row.id);
  }

  /** Until then tmux keeps what the pane prints. */
  async #pipeLater(host: Host, row: TmuxPaneRow, why: unknown): Promise<void> {
    const { book, log } = this.#options;
    const life = book.find(row.id);
    log.error('a pane of tmux could not be piped', { pane: row.id, error: why });
    for (let error = why; life && !isLost(error) && this.#stillRuns(life); ) {
      await setTimeout(retryMs, undefined, { ref: false });
      try {
        return await this.#pipeTo(host, row, false);
      } catch (cause) {
        error = cause;
      }
    }
  }

  async #pipeTo(host: Host, row: TmuxPaneRow, known: boolean): Promise<void> {
    const { book, tmux, keep } = this.#options;
    const record = book.find(row.id);
    if (!record || row.dead || (known && row.piped)) return;
    this.#piping.set(row.id, host);
    const { cols, rows } = record;
    const kept = { ...keep, ...sharesOf(record), note: noteOf(record) };
    const { fifo } = await host.adopt({ id: row.id, cols, rows, held: true, ...kept });
    const piped = tmux.pipeAgain(row, fifo);
    // The host holds the pipe, and must hear of it in any case.
    await host.replay(row.id, await piped.catch(() => nothingShown));
    await piped;
  }
}
