import type { PaneStreams } from '../edges/websocket.ts';
import { paneInfo } from '../panes/pane-record.ts';
import type { Panes } from '../panes/panes.ts';
import { type Permissions, permitCall } from '../registry/dispatch.ts';

/** Panes as connections that stay open need them. */
export function paneStreams(panes: Panes, permissions: Permissions): PaneStreams {
  return {
    list: async (caller) => panes.visibleTo(caller).map(paneInfo),
    async permit(name, params, asker) {
      const { question } = permitCall(permissions, name, params, asker.caller);
      if (question) await permissions.ask(question, asker);
    },
    async *follow(paneId, from, signal) {
      const followed = await panes.output(paneId, async (host) => host.follow(paneId, { from, signal }));
      for await (const item of followed) if ('bytes' in item) yield item;
    },
    type: (paneId, data) => panes.gate.type(paneId, Buffer.from(data)),
    resize: (paneId, cols, rows) => panes.resize(paneId, cols, rows),
    onUpdate: (caller, listener) =>
      panes.book.onChange((record) => {
        if (panes.visibleTo(caller).includes(record)) listener(paneInfo(record));
      }),
  };
}
