import type { Store } from '../../store/store.ts';
import type { Captured } from '../timeline/ledger.ts';
import { type Heard, told } from '../timeline/story.ts';
import { type Like, marksOf, pair } from './likeness.ts';

/** An event that a hook tells, and which installation of the hooks it is of. */
interface Hooked extends Captured {
  readonly origin: string;
}

interface Row {
  readonly id: string;
  readonly agent: string;
  readonly session: string;
  readonly at: number;
  readonly normalised: string;
  /** The installations that have told of it since, as JSON. */
  readonly also: string;
}

interface Reconstructed extends Like {
  readonly id: string;
  readonly also: ReadonlySet<string>;
}

/**
 * What hooks tell too late: the coding agent itself had kept it, and it was written down by that. Answers which of these
 * is which capture.
 */
export async function retoldAmong(
  store: Store,
  hooked: readonly Hooked[],
): Promise<ReadonlyMap<string, string>> {
  const conversations = [...new Set(hooked.flatMap(({ normalised }) => normalised.session ?? []))];
  if (conversations.length === 0) return new Map();
  const rows = await store.query<Row>(
    `SELECT id, agent, session, occurred_at AS at, normalised,
      (SELECT json_group_array(origin) FROM capture_twins WHERE capture = captures.id) AS also
      FROM captures WHERE origin = 'transcript' AND session IN (${conversations.map(() => '?').join(', ')})`,
    conversations,
  );
  const byConversation = Map.groupBy(rows, ({ agent, session }) => `${agent} ${session}`);
  const groups = Map.groupBy(hooked, ({ agent, origin, normalised }) =>
    JSON.stringify([`${agent} ${normalised.session}`, origin]),
  );
  const found = new Map<string, string>();
  for (const [group, members] of groups) {
    const [conversation = '', origin = ''] = JSON.parse(group) as readonly string[];
    const kept = (byConversation.get(conversation) ?? []).map(reconstructed);
    const items = members.map(({ id, agent, occurredAt, normalised }) => ({
      ...{ id, at: occurredAt, marks: marksOf(told(agent, normalised)) },
    }));
    // One installation tells of an event once.
    const open = kept.filter(({ also }) => !also.has(origin));
    for (const [item, of] of pair(items, open)) found.set(item.id, of.id);
  }
  return found;
}

const reconstructed = ({ id, agent, at, normalised, also }: Row): Reconstructed => ({
  ...{ id, at, marks: marksOf(told(agent, JSON.parse(normalised) as Heard)) },
  also: new Set(JSON.parse(also) as readonly string[]),
});
