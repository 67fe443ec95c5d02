import { setTimeout as pause } from 'node:timers/promises';
import { type BuiltInEvents, PolyError, type PolyEvent } from '@polyphony/protocol';
import type { Hub } from './hub.ts';

export type Exit = PolyEvent<BuiltInEvents['pane:exited']>;

export interface ExitFollower {
  /** Resolves with the newest event known, once the hub is followed. */
  following(): Promise<number>;
  close(): void;
}

export interface FollowOptions {
  readonly hub: Hub;
  readonly onExit: (exit: Exit) => void;
  /** From which event on, when something is still to be told; asked before the first connection. */
  readonly since: () => Promise<number | undefined>;
}

const retryMs = 1_000;
const patienceMs = 10_000;

/** Follows the ends of panes, over restarts of the hub, without missing one. It starts no hub. */
export function followExits({ hub, onExit, since }: FollowOptions): ExitFollower {
  const stop = new AbortController();
  let last: number | undefined;
  const known = Promise.withResolvers<void>();

  async function follow(): Promise<void> {
    last ??= await since();
    const headers: Record<string, string> = last === undefined ? {} : { 'last-event-id': String(last) };
    const response = await hub.stream('/events?include=pane:exited', headers, stop.signal);
    if (response.statusCode !== 200) throw new Error(`the hub answered ${response.statusCode}`);
    for await (const block of blocksOf(response)) {
      const { id, data, event } = block;
      if (id !== undefined) last = id;
      if (last !== undefined) known.resolve();
      if (event === 'pane:exited' && data !== undefined) onExit(JSON.parse(data) as Exit);
    }
  }

  async function loop(): Promise<void> {
    while (!stop.signal.aborted) {
      await follow().catch(() => undefined); // It is away, or ended on us: it is asked again.
      if (stop.signal.aborted) return;
      await pause(retryMs, undefined, { signal: stop.signal, ref: false }).catch(() => undefined); // Closed meanwhile.
    }
  }

  void loop();
  return {
    async following() {
      const timer = pause(patienceMs, undefined, { ref: false });
      await Promise.race([known.promise, timer]);
      if (last !== undefined) return last;
      throw new PolyError(
        'timed_out',
        'the events of the hub cannot be followed, so that an end could not be told.',
        {
          hint: 'Start it without notifyOnExit, or look with: poly doctor',
        },
      );
    },
    close: () => stop.abort(),
  };
}

interface Block {
  readonly id?: number;
  readonly event?: string;
  readonly data?: string;
}

async function* blocksOf(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Block> {
  const decoder = new TextDecoder();
  let text = '';
  for await (const chunk of chunks) {
    text += decoder.decode(chunk, { stream: true });
    const parts = text.split('\n\n');
    text = parts.pop() ?? '';
    for (const part of parts) {
      const field = (name: string): string | undefined => new RegExp(`^${name}: ?(.*)$`, 'm').exec(part)?.[1];
      const [id, event, data] = [field('id'), field('event'), field('data')];
      yield {
        ...(id !== undefined && { id: Number(id) }),
        ...(event !== undefined && { event }),
        ...(data !== undefined && { data }),
      };
    }
  }
}
