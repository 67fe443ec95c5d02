import type { Approval, Participant } from '@polyphony/protocol';
import { type Draft, draft, type Source } from '../events/event-log.ts';
import type { Statement, Store } from '../store/store.ts';

/** How the waiting ended. */
export type Outcome =
  | { readonly state: 'allowed' | 'denied'; readonly by: Source }
  | { readonly state: 'expired' }
  | { readonly state: 'withdrawn'; readonly reason: string };

/** What is written when it ends. The question goes: what would have been typed may be a secret. */
export function settlement(approval: Approval, outcome: Outcome): { told: Draft; statement: Statement } {
  const by = 'by' in outcome ? outcome.by.participant : null;
  return {
    told: toldOf(approval, outcome),
    statement: {
      sql: `UPDATE approvals SET state = ?, approval = NULL, settled_by = ? WHERE id = ? AND state = 'pending'`,
      values: [outcome.state, by, approval.id],
      expect: 1,
    },
  };
}

function toldOf({ id, by, pane }: Approval, outcome: Outcome): Draft {
  const asker: Source = { participant: by as Participant, ...(pane !== undefined && { pane }) };
  switch (outcome.state) {
    case 'expired':
      return draft(asker, 'approval:expired', { id });
    case 'withdrawn':
      return draft(asker, 'approval:withdrawn', { id, reason: outcome.reason });
    default:
      return draft(outcome.by, 'approval:resolved', {
        id,
        decision: outcome.state === 'allowed' ? 'allow' : 'deny',
      });
  }
}

interface Past {
  readonly state: Outcome['state'] | 'pending';
  readonly settled_by: string | null;
}

/** How the waiting of one that is no longer there ended. */
export async function recall(store: Store, id: string): Promise<Past | undefined> {
  const [row] = await store.query<Past>('SELECT state, settled_by FROM approvals WHERE id = ?', [id]);
  return row;
}
