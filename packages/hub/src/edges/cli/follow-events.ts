import { setTimeout as sleep } from 'node:timers/promises';
import { PolyError, type PolyEvent } from '@polyphony/protocol';
import type { Call } from './command.ts';
import { streamFromHub } from './find-hub.ts';
import { shown } from './output.ts';
import { reviveHub } from './start-hub.ts';

interface EventFlags {
  readonly include?: string;
  readonly since?: number;
}

/** Prints events as they come, over restarts of the hub too. */
export async function followEvents({ flags, env, out, json }: Call & { flags: EventFlags }): Promise<void> {
  const { include = '*', since } = flags;
  if (include.split(',').every((name) => name.trim() === ''))
    throw new PolyError('invalid_arguments', `--include "${include}" names no event.`, {
      hint: "Say names, 'noun:*', or leave it out for all.",
    });
  const onAway = (): void => out.note('poly: the hub is away; waiting for it.');
  for await (const { event, data } of hubEvents(env, { include, since, onAway })) {
    if (json) out.line(event === 'reset' ? JSON.stringify({ event, payload: JSON.parse(data) }) : data);
    else if (event === 'reset') {
      const { last: newest } = JSON.parse(data) as { readonly last: number };
      out.note(
        (since ?? 0) > newest
          ? `poly: there is no event ${since} yet, the newest is ${newest}; going on from there.`
          : 'poly: events before this are no longer kept.',
      );
    } else out.line(lineOf(JSON.parse(data) as PolyEvent, out.paint.bind(out)));
  }
}

interface HubStreamOptions {
  /** Begin behind this event. */
  readonly since?: number | undefined;
  /** Told each time the hub is found to be away. */
  readonly onAway: () => void;
}

interface HubEventsOptions extends HubStreamOptions {
  readonly include: string;
}

interface ToldEvent {
  readonly event?: string;
  /** JSON. */
  readonly data: string;
}

export const hubEvents = (
  env: Call['env'],
  { include, ...options }: HubEventsOptions,
): AsyncGenerator<ToldEvent, never> =>
  hubStream(env, `/events?include=${encodeURIComponent(include)}`, options);

/**
 * What a stream of the hub tells, without end. Once it has been connected, it waits for a hub that restarts, starts one that was killed,
 * and goes on behind what it gave last.
 */
export async function* hubStream(
  env: Call['env'],
  path: string,
  { since, onAway }: HubStreamOptions,
): AsyncGenerator<ToldEvent, never> {
  let last = since;
  let waiting = false;
  for (let connected = false; ; ) {
    try {
      const { status, body } = await streamFromHub(
        env,
        path,
        last === undefined ? {} : { 'last-event-id': String(last) },
      );
      const blocks = readBlocks(body);
      if (status !== 200) throw await refusal(blocks);
      connected = true;
      waiting = false;
      for await (const { id, event, data } of blocks) {
        if (id !== undefined) last = id;
        if (data !== undefined) yield { ...(event !== undefined && { event }), data };
      }
    } catch (error) {
      if (!connected || !(error instanceof PolyError) || error.code !== 'unreachable') throw error;
    }
    if (!waiting) onAway();
    waiting = true;
    await reviveHub(env);
    await sleep(250);
  }
}

interface Block {
  readonly id?: number;
  readonly event?: string;
  readonly data?: string;
}

/** The blocks of an SSE stream; a cut-off last one is not given, since it will be sent again. */
async function* readBlocks(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Block> {
  const decoder = new TextDecoder();
  let text = '';
  try {
    for await (const chunk of chunks) {
      text += decoder.decode(chunk, { stream: true });
      const parts = text.split('\n\n');
      text = parts.pop() ?? '';
      for (const part of parts) yield readBlock(part);
    }
  } catch (error) {
    if (!(error instanceof Error) || !('code' in error)) throw error; // A connection that breaks has ended, no more.
  }
  if (text.startsWith('{')) yield { data: text };
}

function readBlock(part: string): Block {
  const fields = new Map<string, string>();
  for (const line of part.split('\n')) {
    const [, name, value = ''] = /^(\w+): ?(.*)$/.exec(line) ?? [];
    if (name !== undefined) fields.set(name, value);
  }
  const id = fields.get('id');
  const event = fields.get('event');
  const data = fields.get('data');
  return {
    ...(id !== undefined && /^\d+$/.test(id) && { id: Number(id) }),
    ...(event !== undefined && { event }),
    ...(data !== undefined && { data }),
  };
}

/** Instead of a stream the hub has sent one answer. */
async function refusal(blocks: AsyncIterable<Block>): Promise<PolyError> {
  for await (const { data } of blocks) {
    if (data === undefined) continue;
    return PolyError.from((JSON.parse(data) as { error: Parameters<typeof PolyError.from>[0] }).error);
  }
  return new PolyError('internal', 'the hub refused the stream without saying why.');
}

function lineOf({ seq, at, event, source, pane, payload }: PolyEvent, paint: Call['out']['paint']): string {
  const time = new Date(at).toTimeString().slice(0, 8);
  const who = pane === undefined ? source : `${source} ${pane}`;
  return [
    paint('dim', `${seq} ${time}`),
    paint('cyan', shown(event, 128)),
    shown(JSON.stringify(payload) ?? '', 400),
    paint('dim', shown(who, 128)),
  ].join('  ');
}
