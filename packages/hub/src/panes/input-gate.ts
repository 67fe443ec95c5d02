import { PolyError } from '@polyphony/protocol';
import { Turns } from '../platform/turns.ts';
import type { PaneBackend } from './backend.ts';
import type { PaneBook } from './pane-book.ts';
import type { PaneRecord } from './pane-record.ts';

/** The only way into a terminal. */
export interface InputGate {
  /** Own bytes of whoever may write to the pane: they arrive whole, in order, and exactly as given. */
  type(paneId: string, bytes: Buffer): Promise<void>;
  /** Several writes that nobody else's come in between; everybody else waits meanwhile. */
  hold<T>(paneId: string, work: (type: (bytes: Buffer) => Promise<void>) => Promise<T>): Promise<T>;
}

export interface InputGateOptions {
  readonly book: PaneBook;
  readonly backendOf: (record: PaneRecord) => PaneBackend;
}

export function createInputGate({ book, backendOf }: InputGateOptions): InputGate {
  const turns = new Turns();
  const write = async (paneId: string, bytes: Buffer): Promise<void> => {
    const record = book.get(paneId);
    if (record.status !== 'running') {
      throw new PolyError('pane_exited', `${paneId} has ended; nothing can be typed into it.`, {
        hint: 'poly ls shows which panes run.',
      });
    }
    if (bytes.length > 0) await backendOf(record).type(record, bytes);
  };
  return {
    type: (paneId, bytes) => turns.take(paneId, () => write(paneId, bytes)),
    hold: (paneId, work) => turns.take(paneId, () => work((bytes) => write(paneId, bytes))),
  };
}
