import type { Store, Value } from '../../store/store.ts';
import type { BindingRow, SessionRow } from '../session-row.ts';
import type { Captured } from '../timeline/ledger.ts';
import type { Heard } from '../timeline/story.ts';
import { pages } from './known.ts';

interface Row {
  readonly seq: number;
  readonly id: string;
  readonly agent: string;
  readonly pane: string | null;
  readonly at: number;
  readonly normalised: string;
  readonly origin: string;
}

/** A capture that no timeline tells of. */
export interface Untold extends Captured {
  /** The coding agent itself had kept it, and no hook told it. */
  readonly reconstructed: boolean;
}

const never = Number.MAX_SAFE_INTEGER;

/** What was captured while it was to go into a session, and is not in its timeline. */
export async function untoldOf(
  store: Store,
  { id }: Pick<SessionRow, 'id'>,
  bindings: readonly BindingRow[],
): Promise<readonly Untold[]> {
  const found = new Map<string, Untold>();
  const look = async (where: string, values: readonly Value[]): Promise<void> => {
    const select = `SELECT seq, id, agent, pane, occurred_at AS at, normalised, origin FROM captures
      WHERE as_tool = 0 AND NOT EXISTS (SELECT 1 FROM timeline WHERE timeline.capture = captures.id) AND ${where}`;
    for await (const row of pages<Row>(store, select, values)) found.set(row.id, untold(row));
  };
  // What somebody handed over says into which session.
  await look('id >= ? AND id < ?', [`by-${id}-`, `by-${id}.`]);
  for (const { pane, vendor, conversation, from_at, until_at } of bindings) {
    // Times are whole milliseconds here: what happened within the first or the last of them may be of another.
    const span = [from_at, until_at ?? never];
    if (pane !== null) await look('pane = ? AND occurred_at > ? AND occurred_at < ?', [pane, ...span]);
    if (conversation === null) continue;
    // What comes from no pane is of a conversation in a pane only where its own transcript says so.
    const whose = pane === null ? '' : `AND origin = 'transcript'`;
    await look(
      `session = ? AND agent = ? AND pane IS NULL ${whose} AND occurred_at > ? AND occurred_at < ?`,
      [...[conversation, vendor, ...span]],
    );
  }
  return [...found.values()].sort((a, b) => a.occurredAt - b.occurredAt);
}

function untold({ id, agent, pane, at, normalised, origin }: Row): Untold {
  const heard = JSON.parse(normalised) as Heard;
  const captured = { id, agent, pane, asTool: false, occurredAt: at, normalised: heard };
  return { ...captured, reconstructed: origin === 'transcript' };
}
