import type { Statement } from '../store/store.ts';
import type { Entry } from './journal.ts';
import type { Understood } from './understand.ts';

/** Where an event came from, beside what it says. */
type Origin = Pick<Entry, 'id' | 'agent' | 'tmux' | 'origin' | 'asTool' | 'occurredAt'> & {
  readonly pane: string | null;
  readonly receivedAt: number;
};

export function insertCapture(from: Origin, { normalised, raw, digest }: Understood): Statement {
  const { kind, event, session } = normalised;
  const { id, agent, pane, tmux, occurredAt, receivedAt, origin, asTool } = from;
  return {
    sql: `INSERT INTO captures (id, agent, event, kind, session, pane, tmux, occurred_at, received_at, normalised, raw, origin, digest, as_tool)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    values: [
      ...[id, agent, event, kind, session, pane, tmux, Math.round(occurredAt), receivedAt],
      ...[JSON.stringify(normalised), raw, origin, digest, Number(asTool)],
    ],
  };
}
