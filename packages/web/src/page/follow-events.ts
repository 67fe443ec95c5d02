import { type ErrorInfo, PolyError, type PolyEvent } from '@polyphony/protocol';
import { Backoff } from './backoff.ts';

export interface FollowEventsOptions {
  readonly token: string;
  readonly include: string;
  readonly signal: AbortSignal;
  /** The stream is up, for the first time or again. */
  readonly onOpen: () => void;
  readonly onEvent: (event: PolyEvent) => void;
  readonly onLost: () => void;
  /** The key is no longer good: nothing more is tried. */
  readonly onRefused: (error: PolyError) => void;
}

/** The hub says at least that it is there every 15 seconds. */
const silenceMs = 40_000;

/** Follows the log until aborted; what was missed while the hub was away is told after it. */
export async function followEvents(options: FollowEventsOptions): Promise<void> {
  const { signal, onLost, onRefused } = options;
  const backoff = new Backoff();
  const place = { seq: undefined as string | undefined };
  while (!signal.aborted) {
    try {
      await readStream(options, place, backoff);
    } catch (error) {
      if (error instanceof PolyError && error.code === 'unauthenticated') return onRefused(error);
    }
    if (signal.aborted) return;
    onLost();
    await backoff.wait(signal);
  }
}

async function readStream(
  { token, include, signal, onOpen, onEvent }: FollowEventsOptions,
  place: { seq: string | undefined },
  backoff: Backoff,
): Promise<void> {
  const silence = new AbortController();
  let timer: number | undefined;
  const heard = (): void => {
    clearTimeout(timer);
    timer = setTimeout(() => silence.abort(), silenceMs);
  };
  heard();
  try {
    const response = await fetch(`/events?include=${encodeURIComponent(include)}`, {
      headers: {
        authorization: `Bearer ${token}`,
        ...(place.seq !== undefined && { 'last-event-id': place.seq }),
      },
      signal: AbortSignal.any([signal, silence.signal]),
    });
    if (!response.ok || !response.body) throw PolyError.from(await errorOf(response));
    backoff.reset();
    onOpen();
    let text = '';
    for await (const chunk of response.body.pipeThrough(new TextDecoderStream())) {
      heard();
      text += chunk;
      const frames = text.split('\n\n');
      text = frames.pop() ?? '';
      for (const frame of frames) {
        place.seq = /^id: (.*)$/m.exec(frame)?.[1] ?? place.seq;
        const data = /^data: (.*)$/m.exec(frame)?.[1];
        if (data === undefined) continue;
        if (frame.includes('\nevent: reset\n')) onOpen();
        else onEvent(JSON.parse(data) as PolyEvent);
      }
    }
  } finally {
    clearTimeout(timer);
  }
}

async function errorOf(response: Response): Promise<ErrorInfo> {
  const fallback: ErrorInfo = { code: 'unreachable', message: `the hub answered ${response.status}.` };
  try {
    return ((await response.json()) as { error?: ErrorInfo }).error ?? fallback;
  } catch {
    return fallback; // Not a hub's answer.
  }
}
