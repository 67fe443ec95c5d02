import type { FloorSession, TimelineEntry, TimelineKind } from '@polyphony/protocol';
import type { Call } from './command.ts';
import { hubStream } from './follow-events.ts';

/** An entry as a stream tells it. */
interface Told
  extends Pick<TimelineEntry, 'seq' | 'session_id' | 'kind' | 'sender' | 'text' | 'received_at'> {
  readonly id: string;
  readonly timestamp: string;
}

/** Shows what happens in a session behind an entry, over restarts of the hub too; results come by themselves. */
export async function followTimeline(
  { env, out }: Pick<Call, 'env' | 'out'>,
  { project, slug }: FloorSession,
  since: number,
  kinds: readonly TimelineKind[] | undefined,
  show: (entry: TimelineEntry) => void,
): Promise<void> {
  const path = `/projects/${encodeURIComponent(project)}/sessions/${encodeURIComponent(slug)}/events`;
  const onAway = (): void => out.note('poly: the hub is away; waiting for it.');
  for await (const { data } of hubStream(env, path, { since, onAway })) {
    const { id, timestamp, seq, session_id, kind, sender, text, received_at } = JSON.parse(data) as Told;
    const isWanted = kinds ? kinds.includes(kind) : kind !== 'other';
    if (isWanted)
      show({
        ...{ entry_id: id, at: timestamp, seq, session_id, kind, sender, text, received_at },
        data: {},
      });
  }
}
