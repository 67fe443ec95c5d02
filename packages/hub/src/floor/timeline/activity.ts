import { type FloorActivity, type FloorActivityParams, PolyError } from '@polyphony/protocol';
import type { Store } from '../../store/store.ts';

interface Counted {
  readonly session: string;
  readonly part: number;
  readonly count: number;
}

/** How much happened in the sessions of a project, or of all, part by part. */
export async function activityOf(
  store: Store,
  project: string | undefined,
  params: Pick<FloorActivityParams, 'from' | 'until' | 'parts'>,
): Promise<FloorActivity> {
  const { parts } = params;
  const [from, until] = [Date.parse(params.from), Date.parse(params.until)];
  if (until - from < parts)
    throw new PolyError('invalid_arguments', `${params.until} is not after ${params.from}.`, {
      hint: 'Give an until that is later than from, by a millisecond a part or more.',
    });
  const length = (until - from) / parts;
  const count = (where: string): Promise<readonly Counted[]> =>
    store.query<Counted>(
      `SELECT session, CAST((occurred_at - ?) / ? AS INTEGER) AS part, count(*) AS count
        FROM floor_sessions JOIN timeline ON session = floor_sessions.id
        WHERE active_at >= ? AND occurred_at >= ? AND occurred_at < ?${where}
          ${project === undefined ? '' : 'AND floor_sessions.project = ?'}
        GROUP BY session, part`,
      [from, length, from, from, until, ...(project === undefined ? [] : [project])],
    );
  const [entries, prompts] = await Promise.all([count(''), count(` AND kind = 'prompt'`)]);
  return {
    sessions: [...Map.groupBy(entries, ({ session }) => session)].map(([session, counted]) => ({
      session_id: session,
      entries: byPart(counted, parts),
      prompts: byPart(
        prompts.filter((one) => one.session === session),
        parts,
      ),
    })),
  };
}

function byPart(counted: readonly Counted[], parts: number): readonly number[] {
  const counts = new Array<number>(parts).fill(0);
  for (const { part, count } of counted) counts[part] = count;
  return counts;
}
