import { PolyError } from '@polyphony/protocol';
import type { Holder } from '../registry/holder.ts';
import type { Statement, Store } from '../store/store.ts';
import type { BindingRow } from './session-row.ts';

/** What can feed a session: the agent in a pane, or a conversation of one that is in none of ours. */
export interface Feed {
  readonly pane: string | null;
  readonly vendor: string | null;
  readonly conversation: string | null;
}

/** A feed with whose words it brings. */
export interface NamedFeed extends Feed {
  readonly agent: string | null;
}

/** What is known of the agent in a pane; nothing where there is no such pane. */
export type AgentIn = (
  pane: string,
) => { readonly vendor?: string | undefined; readonly conversation?: string | undefined } | undefined;

interface FeedChoice {
  readonly pane?: string | undefined;
  readonly vendor?: string | undefined;
  readonly conversation?: string | undefined;
}

/** The feed somebody speaks of: its own, or, for the user, any; nothing where the user names none. */
export function feedOf(asker: Holder, choice: FeedChoice, agentIn: AgentIn): Feed | undefined {
  const pane = choice.pane ?? asker.pane;
  if (!asker.isUser && (choice.conversation !== undefined || (choice.pane ?? asker.pane) !== asker.pane))
    throw new PolyError('forbidden', `${asker.participant} speaks for its own pane only.`, {
      hint: 'Leave out pane and conversation; others join by themselves, or by the word of the user.',
    });
  if (pane === null) {
    const { vendor, conversation } = choice;
    if (conversation === undefined) return undefined;
    if (vendor === undefined)
      throw new PolyError('invalid_arguments', 'a conversation needs the vendor it is of.', {
        hint: 'Say vendor: claude, codex, gemini, opencode or cursor.',
      });
    return { pane, vendor, conversation };
  }
  const agent = agentIn(pane);
  if (!agent)
    throw new PolyError('not_found', `there is no pane "${pane}".`, {
      hint: 'poly ls and poly agent list show what there is.',
    });
  return { pane, vendor: agent.vendor ?? null, conversation: agent.conversation ?? null };
}

/** The binding by which a feed goes into a session now. */
export async function openBinding(
  store: Store,
  { pane, vendor, conversation }: Feed,
): Promise<BindingRow | undefined> {
  const [row] =
    pane === null
      ? await store.query<BindingRow>(
          'SELECT * FROM floor_bindings WHERE pane IS NULL AND vendor = ? AND conversation = ? AND until_at IS NULL',
          [vendor, conversation],
        )
      : await store.query<BindingRow>('SELECT * FROM floor_bindings WHERE pane = ? AND until_at IS NULL', [
          pane,
        ]);
  return row;
}

/** The time that a file was written at may lie so much behind the clock (Linux: up to a tick of its timer). */
export const grainMs = 10;

/** Fails with `conflict` where something feeds from there already. */
export function bind(
  session: string,
  { pane, vendor, conversation, agent }: NamedFeed,
  at: number,
): Statement {
  return {
    sql: `INSERT INTO floor_bindings (session, pane, vendor, conversation, agent, from_at) VALUES (?, ?, ?, ?, ?, ?)
      ON CONFLICT DO NOTHING`,
    values: [session, pane, vendor, conversation, agent, Math.round(at)],
    expect: 1,
  };
}

/** Ends a binding that is still open; fails with `conflict` where it is not. */
export function unbind({ id }: Pick<BindingRow, 'id'>, at: number, why: BindingRow['ended_by']): Statement {
  return {
    sql: 'UPDATE floor_bindings SET until_at = ?, ended_by = ? WHERE id = ? AND until_at IS NULL',
    values: [Math.round(at), why, id],
    expect: 1,
  };
}
