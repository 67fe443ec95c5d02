import { type PaneLine, PolyError, type PtySession } from '@polyphony/protocol';
import type { PaneStreams } from '../edges/websocket-connection.ts';
import type { SeatMap } from '../floor/seat/seat-map.ts';
import { plainLines } from '../host/plain-view.ts';
import type { Notifier } from '../notices/notifier.ts';
import type { PaneRecord } from '../panes/pane-record.ts';
import type { Panes } from '../panes/panes.ts';
import { ptySession } from '../panes/pty-session.ts';
import { type Caller, isUser } from '../registry/caller.ts';
import { type Permissions, permitCall } from '../registry/dispatch.ts';

const pageBytes = 1024 * 1024;

/** Panes as REST in the words of opencode-pty, and connections that stay open, need them. */
export function paneStreams(
  panes: Panes,
  permissions: Permissions,
  notifier: Notifier,
  seats: Pick<SeatMap, 'onChange' | 'in'>,
): PaneStreams {
  const sessionsOf = async (records: readonly PaneRecord[]): Promise<readonly PtySession[]> => {
    const lines = await panes.lineCounts();
    return records.map((record) => ptySession(record, lines.get(record.id) ?? 0));
  };
  return {
    list: (caller) => sessionsOf(panes.visibleTo(caller)),
    async output(paneId, signal) {
      const raw: Buffer[] = [];
      const lines: PaneLine[] = [];
      for (let since = 0, more = true; more; ) {
        signal.throwIfAborted();
        const page = await panes.output(paneId, (host) => host.read(paneId, { since, maxBytes: pageBytes }));
        raw.push(Buffer.from(page.bytes));
        for (const line of plainLines(page)) {
          // A page may end in the middle of a line.
          const begun = lines.at(-1)?.n === line.n ? lines.pop() : undefined;
          lines.push({ n: line.n, text: `${begun?.text ?? ''}${line.text}` });
        }
        ({ next: since, more } = page);
      }
      return { raw: Buffer.concat(raw), plain: lines.map(({ text }) => text).join('\n') };
    },
    async permit(name, params, asker) {
      const { question } = permitCall(permissions, name, params, asker.caller);
      if (question) await permissions.ask(question, asker);
    },
    follow: (paneId, from, signal, caller) =>
      panes.output(paneId, async (host) => {
        const { end } = await host.read(paneId, { tail: 0 });
        // Beyond the end: the pane has begun a new life, and so does its reader.
        const start = from === undefined ? end : from > end ? 0 : from;
        const follow = (until: AbortSignal) => bytesOf(host.follow(paneId, { from: start, signal: until }));
        const chunks =
          caller.person === undefined ? follow(signal) : whileFed(seats, caller, paneId, signal, follow);
        return { from: start, chunks };
      }),
    type: (paneId, data, caller) => panes.gate.type(paneId, Buffer.from(data), caller),
    show: (terminal, paneId, size) => panes.shown.show(terminal, paneId, size),
    use: (terminal, paneId) => panes.shown.use(terminal, paneId),
    leave: (terminal, paneId) => panes.shown.leave(terminal, paneId),
    look(looker, caller, paneIds) {
      // A program that reads a pane is nobody who has seen it.
      if (isUser(caller)) panes.lookers.set(looker, paneIds);
    },
    onNotice: (caller, listener) => (isUser(caller) ? notifier.onNotice(listener) : () => undefined),
    onUpdate: (caller: Caller, listener) =>
      panes.book.onChange((record) => {
        if (panes.visibleTo(caller).includes(record))
          void sessionsOf([record]).then((sessions) => sessions.forEach(listener));
      }),
  };
}

/** An invited person follows a pane for as long as it feeds a session. */
async function* whileFed(
  seats: Pick<SeatMap, 'onChange' | 'in'>,
  { participant }: Caller,
  paneId: string,
  signal: AbortSignal,
  follow: (until: AbortSignal) => AsyncGenerator<{ offset: number; bytes: Buffer }>,
): AsyncGenerator<{ offset: number; bytes: Buffer }> {
  const over = new AbortController();
  const look = (): void => {
    if (!seats.in(paneId)) over.abort();
  };
  const stop = seats.onChange(look);
  look();
  try {
    for await (const chunk of follow(AbortSignal.any([signal, over.signal]))) {
      if (over.signal.aborted) break;
      yield chunk;
    }
  } catch (error) {
    if (!over.signal.aborted) throw error;
  } finally {
    stop();
  }
  if (over.signal.aborted)
    throw new PolyError('forbidden', `${participant} may see ${paneId} no longer: it feeds no session.`, {
      hint: 'Whoever is in it joins a project: poly join <project>',
    });
}

type Followed = { readonly offset: number; readonly bytes: Buffer } | object;

/** What is no longer kept shows in the offsets of what is. */
async function* bytesOf(
  followed: AsyncIterable<Followed>,
): AsyncGenerator<{ offset: number; bytes: Buffer }> {
  for await (const item of followed) if ('bytes' in item) yield item;
}
