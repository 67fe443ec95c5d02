import type { FloorContext, FloorSession, TimelineEntry } from '@polyphony/protocol';
import type { Store } from '../../store/store.ts';
import { changesSince } from './changes.ts';
import type { Timeline } from './timeline.ts';

const defaultBytes = 16_384;
const longestText = 800;
const newest = 200;

/** What somebody needs to know of a session to go on with it: what matters, and as much of the newest as fits. */
export async function contextOf(
  store: Store,
  timeline: Timeline,
  session: FloorSession,
  maxBytes: number = defaultBytes,
): Promise<FloorContext> {
  const changes = await changesSince(store, session.session_id, { seq: 0 });
  const { entries } = await timeline.page({ id: session.session_id }, { limit: newest });
  let left = maxBytes - Buffer.byteLength(JSON.stringify({ session, changes }));
  const kept: TimelineEntry[] = [];
  for (const entry of entries.toReversed()) {
    const short = shortened(entry);
    left -= Buffer.byteLength(JSON.stringify(short));
    if (left < 0) break;
    kept.unshift(short);
  }
  return { session, changes, entries: kept };
}

function shortened({ data: _, result, ...entry }: TimelineEntry): TimelineEntry {
  return {
    ...{ ...entry, data: {}, text: cut(entry.text) },
    ...(result && { result: { ...result, text: cut(result.text) } }),
  };
}

const cut = (text: string): string =>
  text.length > longestText ? `${text.slice(0, longestText).toWellFormed()}…` : text;
