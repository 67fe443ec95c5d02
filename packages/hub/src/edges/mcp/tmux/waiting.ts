import { setTimeout } from 'node:timers/promises';
import { PolyError, taggedText } from '@polyphony/protocol';
import type { OutputTape, PaneId, PaneRow, WatchScope } from '@polyphony/tmux';
import * as z from 'zod';
import type { ToolAnswer } from '../tool.ts';
import { capture } from './capture.ts';
import type { EventRing, Told, Watch } from './listening.ts';
import { target, words } from './params.ts';
import { Partials } from './partials.ts';
import { raisedByFormat } from './raised.ts';
import { resolveTarget } from './target.ts';
import type { Use } from './use.ts';
import { type Verb, verb } from './verb.ts';

const seconds = z.number().min(0).max(600).default(30);
/** The `next` of an answer before. */
const since = z.int().min(0).optional();
const scope = z
  .string()
  .regex(/^([%@](\d+|\*))?$/, 'must be %1, @1, %* or @*')
  .default('');

/** What waits, and what was told while nobody did. */
export const waiting: Readonly<Record<string, Verb>> = {
  wait_for_output: verb({
    description:
      'What a pane prints since (the next of an answer; your last send_input unless given), until silence: "finished" at a prompt, "silent" while something runs, "exited" with its code.',
    effect: 'read',
    params: {
      target,
      since,
      settle_ms: z.int().min(10).max(60_000).default(750),
      timeout: seconds,
      max_bytes: z.int().min(1).max(1_000_000).default(131_072),
      stream_partials: z.boolean().default(false).describe('Tell it as progress'),
      snapshot: z.boolean().default(true),
    },
    waits: true,
    run: (given, use) => waitForOutput(given, use),
  }),
  watch_events: verb({
    description:
      'Waits for what happens on the server: windows, sessions, layouts, or formats you subscribe to.',
    effect: 'read',
    params: {
      kinds: z.array(z.string()).optional(),
      max_events: z.int().min(1).max(500).default(20),
      timeout: seconds,
      since,
      subscriptions: z
        .array(z.strictObject({ name: z.string().regex(/^[\w-]{1,40}$/), format: words, scope }))
        .max(20)
        .optional(),
    },
    waits: true,
    raised: ({ subscriptions = [] }) =>
      subscriptions.map(({ format }) => raisedByFormat(format)).find((why) => why !== undefined),
    run: (given, use) => watchEvents(given, use),
  }),
  poll_events: verb({
    description:
      'What has happened since (the next of an answer), at once; without it only begins to listen.',
    effect: 'read',
    params: { since },
    async run({ since: from }, { seat }) {
      const ring = await seat.listening.events();
      const told = from === undefined ? [] : ring.since(from).filter(({ event }) => !isWatched(event));
      return eventsAnswer(told, ring, from);
    },
  }),
};

interface Wait {
  readonly target: string;
  readonly since?: number | undefined;
  readonly settle_ms: number;
  readonly timeout: number;
  readonly max_bytes: number;
  readonly snapshot: boolean;
  readonly stream_partials: boolean;
}

async function waitForOutput(given: Wait, use: Use): Promise<ToolAnswer> {
  const { tmux, seat, context } = use;
  const row = await rowOf(given, use);
  const paneId = row?.paneId ?? (given.target as PaneId);
  const key = cursorKey(seat.socket, paneId);
  // One that cannot be recorded is piped instead.
  const tape = row ? await seat.listening.tape(row).catch(() => undefined) : seat.listening.recorded(paneId);
  const since = given.since ?? context.cursors.get(key);
  const source = tape?.read(paneId, since);
  const partials = new Partials(given.stream_partials ? context.progress : () => undefined);
  let heard = '';
  const { reason, text, truncated, bytes, exit, server } = await tmux
    .waitForOutput(seat, paneId, {
      ...(source && { source }),
      onText: (piece) => {
        partials.take(piece);
        heard = (heard + piece).slice(-given.max_bytes);
      },
      ...{ settleMs: given.settle_ms, timeoutMs: given.timeout * 1000, signal: context.signal },
      ...{ maxBytes: given.max_bytes, keepChars: given.max_bytes },
    })
    .then(async (result) =>
      result.reason === 'gone' && (await hasEnded(use))
        ? { ...result, truncated: true, server: 'ended' as const }
        : { ...result, server: 'runs' as const },
    )
    .catch((error: unknown) => goneWithServer(error, use, heard))
    .finally(() => partials.end());
  const next = source?.position;
  if (next !== undefined) context.cursors.set(key, next);
  const ended =
    reason === 'exited' ? { exit_code: exit?.status ?? null, exit_signal: exit?.signal ?? null } : {};
  const missing = truncated || (since !== undefined && source === undefined);
  const screen = given.snapshot && row && reason !== 'gone' ? await screenOf(use, row) : undefined;
  const head = Object.entries({
    Reason: reason,
    ...ended,
    ...(server === 'ended' && { Server: 'the tmux server has ended, and all its panes with it' }),
    Next: next,
    ...(missing && { Missing: 'some of it' }),
  });
  const lines = head.filter(([, value]) => value !== undefined).map(([name, value]) => `${name}: ${value}`);
  const block = (tag: string, of: readonly string[]): string =>
    taggedText({ tag, attributes: { id: paneId }, lines: of });
  return {
    text: [
      ...lines,
      block('tmux_output', text.replace(/\n$/, '').split('\n')),
      ...(screen ? [block('tmux_screen', screen)] : []),
    ].join('\n'),
    structured: {
      ...{ pane_id: paneId, reason, text, truncated: missing, bytes, ...ended },
      ...(server === 'ended' && { server_ended: true }),
      ...(next !== undefined && { next }),
      ...(screen && { screen }),
    },
  };
}

/** A server that ends takes its panes with it: that is how a wait for one of them ends, with what was heard. */
async function goneWithServer(error: unknown, use: Use, text: string) {
  const code = error instanceof use.tmux.TmuxError ? error.code : undefined;
  if (code !== 'no_server' && !(code === 'connection_lost' && (await hasEnded(use)))) throw error;
  // Of what it printed last some may not have come.
  const kept = { text, bytes: Buffer.byteLength(text), truncated: true };
  return { ...kept, reason: 'gone' as const, exit: null, server: 'ended' as const };
}

/** The pane that is waited for; none if it was known to this client and has gone since it was typed into. */
async function rowOf(
  { target: text, since }: Wait,
  { seat, context, look }: Use,
): Promise<PaneRow | undefined> {
  try {
    return resolveTarget((await look()).panes, text);
  } catch (error) {
    const known = /^%\d+$/.test(text) && (since ?? context.cursors.get(cursorKey(seat.socket, text)));
    if (known !== false && known !== undefined && error instanceof PolyError && error.code === 'not_found')
      return undefined;
    throw error;
  }
}

async function screenOf(use: Use, { paneId }: PaneRow): Promise<readonly string[] | undefined> {
  // It may have gone since: then there is no screen to show.
  return capture(use, paneId).catch(() => undefined);
}

/** Under which name it is kept how far a client has read of a pane. */
function cursorKey(socket: string, paneId: string): string {
  return `tmux ${socket} ${paneId}`;
}

/** Begins to record a pane before something is typed into it; answers where what it prints next will begin, and remembers it for the client. */
export async function markNext({ seat, context }: Use, row: PaneRow): Promise<number | undefined> {
  // A session that cannot be attached to without harm is typed into all the same.
  const tape: OutputTape | undefined = await seat.listening.tape(row).catch(() => undefined);
  const at = tape?.cursor(row.paneId);
  if (at !== undefined) context.cursors.set(cursorKey(seat.socket, row.paneId), at);
  return at;
}

interface Given {
  readonly kinds?: readonly string[] | undefined;
  readonly max_events: number;
  readonly timeout: number;
  readonly since?: number | undefined;
  readonly subscriptions?:
    | readonly { readonly name: string; readonly format: string; readonly scope: string }[]
    | undefined;
}

/** Opens what tells the formats that somebody subscribes to, with one connection for each session they are about. */
async function openWatches(
  subscriptions: readonly Watch[],
  { look, seat, tmux }: Use,
): Promise<readonly { close(): Promise<void> }[]> {
  if (subscriptions.length === 0) return [];
  const { panes } = await look();
  const every = new Set(panes.map((row) => row.sessionId));
  const isOne = ({ scope: where }: Watch): boolean => /^[%@]\d+$/.test(where);
  const named = subscriptions.filter(isOne).map((one) => [one, resolveTarget(panes, one.scope)] as const);
  const opened = await Promise.allSettled(
    [...every].map(async (session) => {
      const own = named.filter(([, row]) => row.sessionId === session).map(([one]) => one);
      const all = subscriptions.filter((one) => !isOne(one));
      if (own.length + all.length === 0) return [];
      return seat.listening.watch(session, [...own, ...all]).catch((error: unknown) => {
        // One that must not be attached to, or has gone since, is not missed where all are meant.
        if (own.length === 0 && error instanceof tmux.TmuxError && error.code === 'command_failed') return [];
        throw error;
      });
    }),
  );
  const watches = opened.flatMap((one) => (one.status === 'fulfilled' ? one.value : []));
  const failed = opened.find((one) => one.status === 'rejected');
  if (!failed) return watches;
  await Promise.all(watches.map((one) => one.close()));
  throw failed.reason;
}

async function watchEvents(given: Given, use: Use): Promise<ToolAnswer> {
  const { seat, tmux, context } = use;
  const { kinds, max_events: most, timeout, subscriptions = [] } = given;
  for (const kind of kinds ?? []) {
    if (tmux.eventTypes.includes(kind as never)) continue;
    throw new PolyError('invalid_arguments', `there is no kind of event "${kind.slice(0, 40)}".`, {
      hint: `There are ${tmux.eventTypes.join(', ')}.`,
    });
  }
  const ring = await seat.listening.events();
  const since = given.since ?? ring.next;
  const mine = `${watchMark}${ring.next.toString(36)}-${Math.random().toString(36).slice(2)}-`;
  const wanted = ({ event }: Told): boolean =>
    (!kinds || kinds.includes(event.type) || event.type === 'gap') &&
    (!isWatched(event) || event.name.startsWith(mine));
  const over = AbortSignal.any([context.signal, AbortSignal.timeout(timeout * 1000)]);
  const watches = await openWatches(
    subscriptions.map((one) => ({ ...one, name: mine + one.name, scope: one.scope as WatchScope })),
    use,
  );
  try {
    let told = ring.since(since).filter(wanted);
    let ended = false;
    while (told.length < most && !over.aborted && !ring.over && !ended) {
      const lost = ring.isLost;
      await ring.change(lost ? AbortSignal.any([over, AbortSignal.timeout(lookMs)]) : over);
      ended = ring.isLost && !(await mayBeUp(use));
      told = ring.since(since).filter(wanted);
    }
    ended ||= ring.over && (await hasEnded(use));
    const shown = told.slice(0, most).map(({ seq, event }) => ({
      seq,
      event: isWatched(event) ? { ...event, name: event.name.slice(mine.length) } : event,
    }));
    return eventsAnswer(shown as readonly Told[], ring, since, ended);
  } finally {
    await Promise.all(watches.map((one) => one.close()));
  }
}

/** How often it is looked whether a server whose connection was lost is still there. */
const lookMs = 100;

/** Whether a server is there, as far as is known: what else went wrong may pass. */
async function mayBeUp({ run, tmux }: Use): Promise<boolean> {
  return run(tmux.displayMessage({ message: '' })).then(
    () => true,
    (error: unknown) => !(error instanceof tmux.TmuxError && error.code === 'no_server'),
  );
}

/** Whether a server has ended with what was lost: it takes its panes and clients down first, and goes a moment later. */
async function hasEnded(use: Use): Promise<boolean> {
  for (let looks = 0; looks < 3; looks++) {
    if (!(await mayBeUp(use))) return true;
    await setTimeout(lookMs);
  }
  return false;
}

const watchMark = 'poly-';

function isWatched(event: Told['event']): event is Extract<Told['event'], { type: 'subscription-changed' }> {
  return event.type === 'subscription-changed' && event.name.startsWith(watchMark);
}

function eventsAnswer(
  told: readonly Told[],
  ring: EventRing,
  since: number | undefined,
  ended = false,
): ToolAnswer {
  const last = told.at(-1);
  const next = last ? last.seq + 1 : Math.max(since ?? 0, ring.next);
  const missed = since !== undefined && since < ring.first;
  const events = told.map(({ seq, event }) => ({ seq, ...event }));
  const lines = events.map((event) => JSON.stringify(event));
  const notes = [
    missed ? '; some before them are no longer known' : '',
    ended ? '; the tmux server has ended' : '',
  ];
  const head = `${events.length} events; next: ${next}${notes.join('')}`;
  return {
    text: taggedText({ tag: 'tmux_events', lines: [head, ...lines] }),
    structured: { events, next, missed, ...(ended && { server_ended: true }) },
  };
}
