import { PolyError } from '@polyphony/protocol';
import { Turns } from '../platform/turns.ts';
import type { PaneBackend } from './backend.ts';
import type { PaneBook } from './pane-book.ts';
import type { PaneRecord } from './pane-record.ts';

/** The only way into a terminal. */
export interface InputGate {
  /** Own bytes of whoever may write to the pane: they arrive whole, in order, and exactly as given. */
  type(paneId: string, bytes: Buffer): Promise<void>;
}

export interface InputGateOptions {
  readonly book: PaneBook;
  readonly backendOf: (record: PaneRecord) => PaneBackend;
}

export function createInputGate({ book, backendOf }: InputGateOptions): InputGate {
  const turns = new Turns();
  return {
    type: (paneId, bytes) =>
      turns.take(paneId, async () => {
        const record = book.get(paneId);
        if (record.status !== 'running') {
          throw new PolyError('pane_exited', `${paneId} has ended; nothing can be typed into it.`, {
            hint: 'poly ls shows which panes run.',
          });
        }
        if (bytes.length > 0) await backendOf(record).type(record, bytes);
      }),
  };
}
