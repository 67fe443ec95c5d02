import {
  type Meta,
  type PaneMetaChange,
  type PaneReadParams,
  type PaneReadResult,
  paneActivate,
  paneClose,
  paneDeleteMeta,
  paneGetMeta,
  paneKeys,
  paneList,
  paneNew,
  paneRead,
  paneResize,
  paneScreen,
  paneSetMeta,
  paneUpdateMeta,
  paneWait,
  paneWrite,
} from '@polyphony/protocol';
import { draft, type EventLog } from '../events/event-log.ts';
import { plainLines } from '../host/plain-view.ts';
import type { Registry } from '../registry/registry.ts';
import { keyBytes } from './keys.ts';
import { paneInfo } from './pane-record.ts';
import type { Panes } from './panes.ts';
import { waitForPane } from './wait.ts';

const owner = 'pane';
const defaultTail = 500;
const mostBytes = 4 * 1024 * 1024;

export function registerPaneActions(registry: Registry, panes: Panes, events: EventLog): void {
  const { book, gate } = panes;

  registry.register(owner, paneNew, async (params, context) => {
    const { id, meta, backend, pid } = await panes.create(params, context, { action: paneNew.name });
    return { id, meta, backend, pid };
  });
  registry.register(owner, paneClose, async ({ paneId, cleanup = true }) => {
    await panes.close(paneId, { cleanup });
    return {};
  });
  registry.register(owner, paneList, async (_, { caller }) => {
    const lines = await panes.lineCounts();
    return panes.visibleTo(caller).map((record) => paneInfo(record, lines.get(record.id)));
  });
  registry.register(owner, paneActivate, async ({ paneId }, { caller }) => {
    const record = book.get(paneId);
    if (record.status === 'running') await panes.backendOf(record).activate(record);
    await events.append([draft(caller, 'pane:activated', { paneId })]);
    return {};
  });

  registry.register(owner, paneGetMeta, ({ paneId }) => ({ id: paneId, meta: book.get(paneId).meta }));
  registry.register(owner, paneSetMeta, ({ paneId, key, value }) =>
    changeMeta(panes, paneId, { [key]: value }, []),
  );
  registry.register(owner, paneDeleteMeta, ({ paneId, keys }) => changeMeta(panes, paneId, {}, keys));
  registry.register(owner, paneUpdateMeta, ({ paneId, set = {}, deleteKeys = [] }) =>
    changeMeta(panes, paneId, set, deleteKeys),
  );

  registry.register(owner, paneWrite, async ({ paneId, data, enter = false, encoding = 'utf8' }) => {
    const bytes = Buffer.concat([Buffer.from(data, encoding), Buffer.from(enter ? '\r' : '')]);
    await gate.type(paneId, bytes);
    return { bytes: bytes.length };
  });
  registry.register(owner, paneKeys, async ({ paneId, keys }) => {
    await gate.type(paneId, Buffer.from(keys.map(keyBytes).join('')));
    return {};
  });
  registry.register(owner, paneRead, (params) => readPane(panes, params));
  registry.register(owner, paneWait, (params, { signal }) => waitForPane(panes, params, signal));
  registry.register(owner, paneScreen, ({ paneId }) => panes.screen(paneId));
  registry.register(owner, paneResize, async ({ paneId, cols, rows }) => {
    await panes.resize(paneId, cols, rows);
    return {};
  });
}

export function changeMeta(
  { book }: Panes,
  paneId: string,
  set: Meta,
  deleteKeys: readonly string[],
): Promise<PaneMetaChange> {
  return book.exclusive(paneId, async () => {
    const record = book.get(paneId);
    const previousMeta = record.meta;
    const meta = Object.fromEntries(
      Object.entries({ ...previousMeta, ...set }).filter(([key]) => !deleteKeys.includes(key)),
    );
    const changed = JSON.stringify(sorted(previousMeta)) !== JSON.stringify(sorted(meta));
    if (changed) await book.put({ ...record, meta });
    return { id: paneId, previousMeta, meta, changed };
  });
}

const sorted = (meta: Meta): unknown => Object.entries(meta).sort(([a], [b]) => (a < b ? -1 : 1));

async function readPane(
  panes: Panes,
  { paneId, view = 'plain', ...range }: PaneReadParams,
): Promise<PaneReadResult> {
  const { tail, since, fromLine, limit = defaultTail } = range;
  const asked =
    since !== undefined
      ? { since, limit }
      : fromLine !== undefined
        ? { fromLine: fromLine - 1, limit }
        : { tail: tail ?? limit };
  const read = await panes.output(paneId, (host) => host.read(paneId, { ...asked, maxBytes: mostBytes }));
  const { from, next, retainedFrom, more, truncated } = read;
  const shared = { from, next, retainedFrom, more, truncated };
  if (view === 'raw') return { data: Buffer.from(read.bytes).toString('base64'), ...shared };
  return { lines: plainLines(read), ...shared };
}
