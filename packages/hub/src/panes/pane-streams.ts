import type { PaneInfo } from '@polyphony/protocol';
import type { PaneRecord } from './pane-record.ts';
import { paneInfo } from './pane-record.ts';
import type { Panes } from './panes.ts';

/** What a connection that stays open does with panes: follow their output, type as a person types. */
export interface PaneFlows {
  list(): Promise<readonly PaneInfo[]>;
  /** Output from a byte on, as it comes, until the pane ends. What is no longer kept is left out: offsets tell. */
  follow(
    paneId: string,
    from: number,
    signal: AbortSignal,
  ): AsyncIterable<{ readonly offset: number; readonly bytes: Uint8Array }>;
  type(paneId: string, data: string): Promise<void>;
  resize(paneId: string, cols: number, rows: number): Promise<void>;
  onUpdate(listener: (pane: PaneInfo) => void): () => void;
}

export function paneStreams(panes: Panes): PaneFlows {
  return {
    list: async () => panes.book.list().map(paneInfo),
    async *follow(paneId, from, signal) {
      const followed = await panes.link.use(async (host) => host.follow(paneId, { from, signal }));
      for await (const item of followed) if ('bytes' in item) yield item;
    },
    type: (paneId, data) => panes.gate.type(paneId, Buffer.from(data)),
    resize: (paneId, cols, rows) => panes.resize(paneId, cols, rows),
    onUpdate: (listener) => panes.book.onChange((record: PaneRecord) => listener(paneInfo(record))),
  };
}
