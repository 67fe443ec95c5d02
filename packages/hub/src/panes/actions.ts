import {
  type Meta,
  type PaneMetaChange,
  type PaneReadParams,
  type PaneReadResult,
  type PaneSearchParams,
  type PaneSearchResult,
  paneActivate,
  paneClose,
  paneCloseAll,
  paneDeleteMeta,
  paneGetMeta,
  paneKeys,
  paneList,
  paneNew,
  panePrune,
  paneRead,
  paneResize,
  paneRestart,
  paneScreen,
  paneSearch,
  paneSetMeta,
  paneUpdateMeta,
  paneWait,
  paneWrite,
} from '@polyphony/protocol';
import { type Draft, draft, type EventLog } from '../events/event-log.ts';
import { plainLines, unfinishedEnd } from '../host/plain-view.ts';
import type { Caller } from '../registry/caller.ts';
import type { Dispatch } from '../registry/dispatch.ts';
import type { Registry } from '../registry/registry.ts';
import { isCursorKey, keyBytes } from './keys.ts';
import { limitNotes } from './notes.ts';
import { type PaneRecord, paneInfo } from './pane-record.ts';
import type { Panes } from './panes.ts';
import { waitForPane } from './wait.ts';
import { writtenBytes } from './written-bytes.ts';

const owner = 'pane';
const defaultTail = 500;
const mostBytes = 4 * 1024 * 1024;
const newline = 0x0a;

export interface PaneActionsOptions {
  readonly registry: Registry;
  readonly panes: Panes;
  readonly events: EventLog;
  readonly dispatch: Dispatch;
}

export function registerPaneActions({ registry, panes, events, dispatch }: PaneActionsOptions): void {
  const { book, gate, starting } = panes;

  registry.register(owner, paneNew, async (params, context) => {
    return starting.describe(await starting.create(params, context, { action: paneNew.name }), params);
  });
  registry.register(owner, paneClose, async ({ paneId, cleanup = true }, { caller }) => {
    await panes.close(paneId, { cleanup, from: caller });
    return {};
  });
  registry.register(owner, paneRestart, async ({ paneId, env }, context) => {
    const { id, meta, backend, pid } = await starting.restart(paneId, { env }, context, paneRestart.name);
    return { id, meta, backend, pid };
  });
  registry.register(owner, panePrune, async (_, { caller }) => ({ ids: await panes.prune(caller) }));
  registry.register(owner, paneCloseAll, async ({ backend, cleanup = true }, { caller, signal }) => {
    const closed: string[] = [];
    for (const { id } of ownLast(panes.visibleTo(caller), caller)) {
      if (backend !== undefined && book.find(id)?.backend !== backend) continue;
      await dispatch(paneClose.name, { paneId: id, cleanup }, { caller, signal });
      closed.push(id);
    }
    return { closed };
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

  registry.register(owner, paneWrite, async ({ paneId, ...written }, { caller }) => {
    const bytes = writtenBytes(written);
    await gate.type(paneId, bytes, caller);
    return { bytes: bytes.length };
  });
  registry.register(owner, paneKeys, async ({ paneId, keys }, { caller }) => {
    const bytes = (application: boolean): Buffer =>
      Buffer.from(keys.map((key) => keyBytes(key, application)).join(''));
    if (!keys.some(isCursorKey)) await gate.type(paneId, bytes(false), caller);
    // Nobody types between the look and the keys.
    else
      await gate.hold(paneId, caller, async (type) =>
        type(bytes(await panes.wantsApplicationCursor(paneId))),
      );
    return {};
  });
  registry.register(owner, paneRead, (params) => readPane(panes, params));
  registry.register(owner, paneWait, (params, context) => waitForPane(panes, params, context));
  registry.register(owner, paneSearch, (params, { caller }) => searchPane(panes, params, caller));
  registry.register(owner, paneScreen, ({ paneId }) => panes.screen(paneId));
  registry.register(owner, paneResize, async ({ paneId, cols, rows }) => {
    await panes.resize(paneId, cols, rows);
    return {};
  });
}

/** With its own pane a caller loses what makes the others its own. */
const ownLast = (records: readonly PaneRecord[], { pane }: Caller): readonly PaneRecord[] => [
  ...records.filter(({ id }) => id !== pane),
  ...records.filter(({ id }) => id === pane),
];

/** Changes the notes of a pane, in one step with the events that tell of it. */
export function changeMeta(
  { book }: Panes,
  paneId: string,
  set: Meta,
  deleteKeys: readonly string[],
  drafts: readonly Draft[] = [],
): Promise<PaneMetaChange> {
  return book.exclusive(paneId, async () => {
    const record = book.get(paneId);
    const previousMeta = record.meta;
    const meta = Object.fromEntries(
      Object.entries({ ...previousMeta, ...set }).filter(([key]) => !deleteKeys.includes(key)),
    );
    const changed = JSON.stringify(sorted(previousMeta)) !== JSON.stringify(sorted(meta));
    if (Object.keys(set).length > 0) limitNotes(meta);
    if (changed || drafts.length > 0) await book.put({ ...record, meta }, drafts);
    return { id: paneId, previousMeta, meta, changed };
  });
}

const sorted = (meta: Meta): unknown => Object.entries(meta).sort(([a], [b]) => (a < b ? -1 : 1));

async function readPane(
  panes: Panes,
  { paneId, view = 'plain', ...range }: PaneReadParams,
): Promise<PaneReadResult> {
  const { tail, since, fromLine, limit } = range;
  const asked =
    since === undefined && fromLine === undefined
      ? { tail: tail ?? limit ?? defaultTail, limit }
      : { since, fromLine: fromLine && fromLine - 1, limit: limit ?? defaultTail };
  const read = await panes.output(paneId, (host) => host.read(paneId, { ...asked, maxBytes: mostBytes }));
  const { from, next, retainedFrom, more, truncated } = read;
  if (view === 'raw') {
    const data = Buffer.from(read.bytes).toString('base64');
    return { data, from, next, retainedFrom, more, truncated };
  }
  // Half a character is read with its other half, which a program that has ended does not print any more.
  const isOpen = !more && panes.book.find(paneId)?.status === 'running';
  const bytes = read.bytes.subarray(0, read.bytes.length - (isOpen ? unfinishedEnd(read.bytes) : 0));
  const lines = plainLines({ ...read, bytes });
  const partial = bytes.length > 0 && bytes.at(-1) !== newline;
  return {
    lines,
    from,
    next: from + bytes.length,
    retainedFrom,
    more,
    truncated,
    ...(partial && { partial }),
  };
}

async function searchPane(
  panes: Panes,
  { paneId, before, limit = defaultTail, ...pattern }: PaneSearchParams,
  { family: share }: Caller,
): Promise<PaneSearchResult> {
  const query = { ...pattern, limit, before: before && before - 1, share };
  const found = await panes.output(paneId, (host) => host.search(paneId, query));
  const matches = found.matches.map(({ line, text }) => ({ n: line + 1, text }));
  return { matches, more: found.more, complete: found.complete };
}
