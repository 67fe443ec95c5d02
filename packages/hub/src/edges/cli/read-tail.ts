import type { PaneReadResult } from '@polyphony/protocol';

type Ask = (range: object) => Promise<PaneReadResult>;

/**
 * The first page of the last lines. One answer holds only so many bytes: where those lines need more, the page is the
 * one they begin on, and more follow it.
 */
export async function readTail(ask: Ask, tail: number): Promise<PaneReadResult> {
  const page = await ask({ tail });
  if (!page.truncated || page.from <= page.retainedFrom) return page;
  const [last] = (page.lines ?? (await ask({ tail: 1, view: 'plain' })).lines ?? []).slice(-1);
  return ask({ fromLine: Math.max(1, (last?.n ?? 1) - tail + 1) });
}
