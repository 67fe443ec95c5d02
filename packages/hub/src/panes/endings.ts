import { setTimeout } from 'node:timers/promises';
import { type PaneLine, type Participant, PolyError } from '@polyphony/protocol';
import { draft } from '../events/event-log.ts';
import { plainLines } from '../host/plain-view.ts';
import { exitNotice } from './exit-notice.ts';
import type { HostLink } from './host-link.ts';
import type { PaneBook } from './pane-book.ts';
import type { Birth, Ending, PaneRecord } from './pane-record.ts';
import { graceMs } from './pty-backend.ts';

export interface EndingsOptions {
  readonly book: PaneBook;
  readonly link: HostLink;
  readonly hub: Participant;
  /** Aborted when the hub stops. */
  readonly signal: AbortSignal;
}

const retryMs = 1_000;
/** Among so many at the end one is usually not blank; else it is searched for. */
const noticedLines = 100;

/** Nobody saw how it ended. */
export const unknownEnding: Ending = { exitCode: null, exitSignal: null };

/** What is to be done when a pane has ended, at the host and in the book. */
export class Endings {
  readonly #options: EndingsOptions;

  constructor(options: EndingsOptions) {
    this.#options = options;
  }

  /** Writes down, once, that a pane has ended; what has taken its place meanwhile has not. */
  record({ id, tokenHash }: Birth, ending: Ending): Promise<void> {
    return this.#record(id, ending, (record) => record.tokenHash === tokenHash);
  }

  /** The same of a program that the host has seen end, maybe before the book has heard of it. */
  recordHosted(id: string, ending: Ending, pid: number | undefined): Promise<void> {
    return this.#record(
      id,
      ending,
      (record) => record.backend === 'pty' && (pid === undefined || record.pid === pid),
    );
  }

  #record(
    id: string,
    { exitCode, exitSignal }: Ending,
    isMeant: (record: PaneRecord) => boolean,
  ): Promise<void> {
    const { book, hub } = this.#options;
    return book.exclusive(id, async () => {
      const record = book.find(id);
      if (record?.status !== 'running' || !isMeant(record)) return;
      const lines = record.notifyOnExit && (await this.#lastLines(id));
      const ended: PaneRecord = { ...record, status: 'exited', exitCode, exitSignal };
      const told = draft({ participant: hub, pane: id }, 'pane:exited', {
        ...{ paneId: id, exitCode, exitSignal },
        ...(lines && { notice: exitNotice(record, ended, lines) }),
      });
      await this.#whenThereIsSpace(() => book.put(ended, [told], { onFullDisk: true }));
    });
  }

  /** Of a pane whose output is lost there are none; that it ended must be told all the same. */
  async #lastLines(id: string): Promise<readonly PaneLine[]> {
    const { link } = this.#options;
    const lines = await link.use((host) => host.read(id, { tail: noticedLines })).then(plainLines, () => []);
    if (lines.some(({ text }) => text.trim() !== '')) return lines;
    const spoken = link.use((host) => host.search(id, { pattern: '\\S', limit: 1 }));
    const { matches } = await spoken.catch(() => ({ matches: [] }));
    return [...matches.map(({ line, text }) => ({ n: line + 1, text })), ...lines];
  }

  /** Lets the host read the last bytes of a tmux pane and close its output. */
  async finish({ id, tokenHash }: Birth, ending: Ending): Promise<void> {
    const { book, link } = this.#options;
    // Looked at when it is sent: the host is told of what takes its place only after that.
    await link
      .use(async (host) => {
        if (book.find(id)?.tokenHash === tokenHash) await host.finish(id, ending);
      })
      .catch(unlessUnknown);
  }

  /** Drops what an ended pane printed. */
  async forget(id: string): Promise<void> {
    await this.#options.link.use((host) => host.forget(id)).catch(unlessUnknown);
  }

  /**
   * Ends what a pane has left running beside its first process, or in spite of losing its terminal. What has taken its
   * place carries the same mark: it is not there yet, or nothing is ended any more.
   */
  killLeftovers({ id, tokenHash, pid, startTime }: PaneRecord): Promise<void> {
    const { book, link } = this.#options;
    return book.exclusive(id, async () => {
      if (book.find(id)?.tokenHash !== tokenHash) return;
      await link.use((host) => host.killTree({ id, pid, ...(startTime && { startTime }), graceMs }));
    });
  }

  /** What has happened must be written down, however long the disk stays full. */
  async #whenThereIsSpace(write: () => Promise<void>): Promise<void> {
    for (;;) {
      try {
        return await write();
      } catch (error) {
        const full = error instanceof PolyError && error.code === 'storage_full';
        if (!full || this.#options.signal.aborted) throw error;
        await setTimeout(retryMs);
      }
    }
  }
}

/** A host that was started anew does not know the panes of the one before. */
function unlessUnknown(error: unknown): void {
  if (!(error instanceof PolyError && error.code === 'not_found')) throw error;
}
