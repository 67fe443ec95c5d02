import type { FloorChanges, TimelineEntry } from '@polyphony/protocol';
import type { Store } from '../../store/store.ts';
import { changesSince, lastDrove } from '../timeline/changes.ts';

/** What a digest takes at most, in bytes. */
const mostDigestBytes = 8192;
const longest = 300;

/**
 * What somebody should know who drives a session from now on: what happened since that one last drove it, or at all, the
 * most important first, and never more than fits.
 */
export async function digestOf(
  store: Store,
  { id, place }: { readonly id: string; readonly place: string },
  participant: string,
  unread: number,
): Promise<string> {
  const last = await lastDrove(store, id, participant, await heldSince(store, id, participant));
  const changes = await changesSince(store, id, last ?? { seq: 0 });
  const results = await commandsIn(store, id, last?.seq ?? 0);
  const since = changes.since === undefined ? 'since it began' : `since you last drove, at ${changes.since}`;
  return fitting([
    `${place}, ${since}: ${counted(changes)}.`,
    ...(unread > 0 ? [`Unread mail of yours: ${unread}.`] : []),
    ...section('Waits for an answer', changes.open.map(said)),
    ...section(
      'Decided',
      changes.decisions.map(({ decision, text }) => short(decision ?? text)),
    ),
    ...section('Asked for', changes.prompts.map(said)),
    ...section('Answered last', changes.last_answer ? [said(changes.last_answer)] : []),
    ...section('Failed', changes.failures.map(said)),
    ...section('Run last', results),
    ...section('Files', changes.files),
    ...section(
      'Seen',
      changes.links.map(({ kind, value }) => `${kind.replace('_', ' ')} ${value}`),
    ),
  ]);
}

/** The entry with which somebody got the seat that they have: what they are told does not change while they drive. */
async function heldSince(store: Store, session: string, participant: string): Promise<number | undefined> {
  const [last] = await store.query<{ readonly seq: number; readonly driver: string; readonly event: string }>(
    `SELECT seq, json_extract(data, '$.driver') AS driver, json_extract(data, '$.event') AS event
      FROM timeline WHERE session = ? AND kind = 'handoff' ORDER BY seq DESC LIMIT 1`,
    [session],
  );
  const isHeld = last?.event === 'floor:claimed' || last?.event === 'floor:handed-over';
  return isHeld && last.driver === participant ? last.seq : undefined;
}

/** The newest commands, each with how it ended. */
async function commandsIn(store: Store, session: string, after: number): Promise<readonly string[]> {
  const rows = await store.query<{ readonly text: string; readonly result: string | null }>(
    `SELECT text, (SELECT ended.text FROM timeline ended WHERE ended.session = timeline.session
        AND ended.call = timeline.call AND coalesce(ended.kind, '') = 'tool_result' LIMIT 1) AS result
      FROM timeline WHERE session = ? AND seq > ? AND kind = 'tool' ORDER BY seq DESC LIMIT 10`,
    [session, after],
  );
  return rows
    .toReversed()
    .map(({ text, result }) => `${short(text)}${result === null ? '' : ` → ${short(result)}`}`);
}

const counted = ({ counts }: FloorChanges): string =>
  Object.entries(counts)
    .map(([kind, count]) => `${count} ${kind.replace('_', ' ')}`)
    .join(', ') || 'nothing happened';

const section = (title: string, lines: readonly string[]): readonly string[] =>
  lines.length === 0 ? [] : [`${title}:`, ...lines.map((line) => `- ${line}`)];

const said = ({ sender, text }: TimelineEntry): string => `${sender}: ${short(text)}`;

const short = (text: string): string => {
  const line = text.replace(/\s+/g, ' ').trim();
  return line.length > longest ? `${line.slice(0, longest).toWellFormed()}…` : line;
};

const cut = '… and more: poly floor timeline shows all of it.';

/** As many lines as fit, and that there are more where there are. */
function fitting(lines: readonly string[]): string {
  const kept: string[] = [];
  let left = mostDigestBytes - Buffer.byteLength(cut) - 1;
  for (const line of lines) {
    left -= Buffer.byteLength(line) + 1;
    if (left < 0) return [...kept, cut].join('\n');
    kept.push(line);
  }
  return kept.join('\n');
}
