import { PolyError } from '@polyphony/protocol';
import type { Clock } from '../platform/clock.ts';
import { Turns } from '../platform/turns.ts';
import type { Caller } from '../registry/caller.ts';
import type { PaneBackend } from './backend.ts';
import type { PaneBook } from './pane-book.ts';
import type { PaneRecord } from './pane-record.ts';

/** The only way into a terminal. */
export interface InputGate {
  /** Own bytes of whoever may write to the pane: they arrive whole, in order, and exactly as given. */
  type(paneId: string, bytes: Buffer, by: Caller): Promise<void>;
  /** When somebody last typed there; nothing when nobody has since the hub was started. */
  typedAt(paneId: string): number | undefined;
  /** Several writes that nobody else's come in between; everybody else waits meanwhile. */
  hold<T>(
    paneId: string,
    by: Caller,
    work: (type: (bytes: Buffer) => Promise<void>) => Promise<T>,
  ): Promise<T>;
}

export interface InputGateOptions {
  readonly book: PaneBook;
  readonly backendOf: (record: PaneRecord) => PaneBackend;
  readonly clock: Clock;
  readonly mayType: MayType;
}

/** Throws where the pane belongs to a session that somebody else drives. Asked right before each write. */
export type MayType = (paneId: string, by: Caller) => Promise<void>;

/** How much may wait for a program that does not read. */
const mostWaiting = 4 * 1024 * 1024;

export function createInputGate({ book, backendOf, clock, mayType }: InputGateOptions): InputGate {
  const turns = new Turns();
  /** Bytes that wait for their turn, by pane. */
  const waiting = new Map<string, number>();
  const typed = new Map<string, number>();
  const queue = async (paneId: string, bytes: Buffer, by: Caller): Promise<void> => {
    const before = waiting.get(paneId) ?? 0;
    if (before + bytes.length > mostWaiting) {
      throw new PolyError(
        'conflict',
        `${paneId} does not read what is typed: ${before} bytes wait already.`,
        {
          hint: 'Wait until its program reads, or end it.',
        },
      );
    }
    waiting.set(paneId, before + bytes.length);
    typed.set(paneId, clock.now());
    try {
      await turns.take(paneId, () => write(paneId, bytes, by));
    } finally {
      const left = (waiting.get(paneId) ?? 0) - bytes.length;
      if (left > 0) waiting.set(paneId, left);
      else waiting.delete(paneId);
    }
  };
  const write = async (paneId: string, bytes: Buffer, by: Caller): Promise<void> => {
    const record = book.get(paneId);
    if (record.status !== 'running') {
      throw new PolyError('pane_exited', `${paneId} has ended; nothing can be typed into it.`, {
        hint: 'poly ls shows which panes run.',
      });
    }
    await mayType(paneId, by);
    if (bytes.length > 0) await backendOf(record).type(record, bytes);
  };
  return {
    type: queue,
    typedAt: (paneId) => typed.get(paneId),
    hold: (paneId, by, work) =>
      turns.take(paneId, async () => {
        await mayType(paneId, by);
        return work((bytes) => write(paneId, bytes, by));
      }),
  };
}
