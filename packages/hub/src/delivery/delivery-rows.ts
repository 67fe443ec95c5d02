import type { DeliveryState } from '@polyphony/protocol';
import type { Statement, Store } from '../store/store.ts';
import type { Waiting } from './hint.ts';

/** A delivery that is not over, with what its hint tells of. */
export interface OpenDelivery extends Waiting {
  readonly messageId: string;
  readonly state: DeliveryState;
  readonly door: string | null;
  readonly reason: string | null;
  /** The number of the hint it was told of with; nothing before that. */
  readonly hint: number | null;
  /** How many of the times of the schedule have come and gone. */
  readonly tries: number;
  /** Nothing when the last time has gone. */
  readonly dueAt: number | null;
  readonly readUpTo: number;
}

/** After how long it is tried again, or looked after again, each time. */
export const schedule: readonly number[] = [30_000, 180_000, 600_000];

const atOnce = 500;

const columns = `messages.seq AS seq, messages.id AS "messageId", messages.from_participant AS "from",
  messages.sent_at AS "sentAt", deliveries.state AS state, deliveries.door AS door, deliveries.reason AS reason,
  deliveries.hint AS hint, messages.kind AS kind,
  CASE WHEN messages.kind IN ('advice', 'digest') AND substr(deliveries.recipient, 1, 4) = 'ses_'
    THEN messages.body END AS said,
  coalesce(outbox.attempts, 0) AS tries, outbox.due_at AS "dueAt",
  coalesce(mailboxes.read_up_to, 0) AS "readUpTo"`;

/** What is still to be done for one recipient: what is due first where there is more of it than goes at once. */
export function openDeliveries(store: Store, recipient: string): Promise<readonly OpenDelivery[]> {
  return store.query<OpenDelivery>(
    `SELECT ${columns} FROM (
      SELECT * FROM outbox WHERE kind = 'delivery' AND recipient = ? ORDER BY due_at, message LIMIT ${atOnce}
    ) AS outbox
    CROSS JOIN deliveries ON deliveries.recipient = outbox.recipient AND deliveries.message = outbox.message
    CROSS JOIN messages ON messages.seq = outbox.message
    LEFT JOIN mailboxes ON mailboxes.recipient = outbox.recipient
    ORDER BY outbox.message`,
    [recipient],
  );
}

/** As the index on them has it. */
const isOpen = `state <> 'seen'`;

/** What was told to somebody of whom nobody knows whether it was seen, also when nothing is left to be done about it. */
export function toldDeliveries(store: Store, recipient: string): Promise<readonly OpenDelivery[]> {
  return store.query<OpenDelivery>(
    `SELECT ${columns} FROM deliveries
    CROSS JOIN messages ON messages.seq = deliveries.message
    LEFT JOIN outbox ON outbox.kind = 'delivery' AND outbox.recipient = deliveries.recipient
      AND outbox.message = deliveries.message
    LEFT JOIN mailboxes ON mailboxes.recipient = deliveries.recipient
    WHERE deliveries.recipient = ? AND deliveries.${isOpen} AND deliveries.hint IS NOT NULL
      AND deliveries.state IN ('written', 'uncertain') ORDER BY deliveries.message LIMIT ${atOnce}`,
    [recipient],
  );
}

/** Everybody for whom something is due by then. */
export async function dueRecipients(store: Store, now: number): Promise<readonly string[]> {
  const rows = await store.query<{ readonly recipient: string }>(
    `SELECT DISTINCT recipient FROM outbox WHERE kind = 'delivery' AND due_at <= ? LIMIT 1000`,
    [now],
  );
  return rows.map(({ recipient }) => recipient);
}

export async function nextDue(store: Store): Promise<number | undefined> {
  const [row] = await store.query<{ readonly due: number | null }>(
    `SELECT min(due_at) AS due FROM outbox WHERE kind = 'delivery'`,
  );
  return row?.due ?? undefined;
}

/** Some deliveries to one recipient. */
export interface Group {
  readonly recipient: string;
  readonly seqs: readonly number[];
}

const these = ({ seqs }: Group): string => `IN (${seqs.map(() => '?').join(', ')})`;

export interface Change {
  readonly from: readonly DeliveryState[];
  readonly state: DeliveryState;
  readonly door: string | null;
  readonly reason: string | null;
  readonly hint: number | null;
  readonly at: number;
  /** Whether it counts as a try. */
  readonly tried: boolean;
}

/** Changes what is in one of these states, and notes the step; what has changed meanwhile stays as it is. */
export function changeGroup(group: Group, change: Change): readonly Statement[] {
  const { from, state, door, reason, hint, at, tried } = change;
  const where = `recipient = ? AND message ${these(group)} AND state IN (${from.map(() => '?').join(', ')})`;
  const values = [group.recipient, ...group.seqs, ...from];
  return [
    {
      sql: `INSERT INTO delivery_steps (recipient, message, at, state, door, reason)
        SELECT recipient, message, ?, ?, ?, ? FROM deliveries WHERE ${where}`,
      values: [at, state, door, reason, ...values],
    },
    {
      sql: `UPDATE deliveries SET state = ?, door = ?, reason = ?, hint = ?, updated_at = ?, attempts = attempts + ?,
        next_at = NULL WHERE ${where}`,
      values: [state, door, reason, hint, at, Number(tried), ...values],
    },
  ];
}

/** Notes one step of one delivery. */
export function noteStep(
  recipient: string,
  message: number,
  step: Omit<DeliveryStep, 'recipient'>,
): Statement {
  const { at, state, door, reason } = step;
  return {
    sql: 'INSERT INTO delivery_steps (recipient, message, at, state, door, reason) VALUES (?, ?, ?, ?, ?, ?)',
    values: [recipient, message, at, state, door, reason],
  };
}

/** Nothing is left to be done about these. */
export function closeGroup(group: Group): Statement {
  return {
    sql: `DELETE FROM outbox WHERE kind = 'delivery' AND recipient = ? AND message ${these(group)}`,
    values: [group.recipient, ...group.seqs],
  };
}

/** What was due waits for its next time; all of them then know it. */
export function postponeGroup(group: Group, now: number): readonly Statement[] {
  const where = `kind = 'delivery' AND recipient = ? AND message ${these(group)}`;
  const last = schedule.length - 1;
  const times = schedule.map((_, index) => (index < last ? `WHEN ${index} THEN ?` : 'ELSE ?')).join(' ');
  return [
    {
      sql: `UPDATE outbox SET due_at = CASE attempts ${times} END, attempts = attempts + 1
        WHERE ${where} AND due_at <= ?`,
      values: [...schedule.map((ms) => now + ms), group.recipient, ...group.seqs, now],
    },
    {
      sql: `UPDATE deliveries SET next_at = (
          SELECT due_at FROM outbox WHERE kind = 'delivery' AND outbox.recipient = deliveries.recipient
            AND outbox.message = deliveries.message
        ) WHERE recipient = ? AND message ${these(group)}`,
      values: [group.recipient, ...group.seqs],
    },
  ];
}

/** What waits for somebody who could not be reached is to be done after all. */
export function reopen(recipient: string, now: number): Statement {
  return {
    sql: `INSERT INTO outbox (kind, message, recipient, due_at)
      SELECT 'delivery', message, recipient, ? FROM deliveries
      WHERE recipient = ? AND ${isOpen} AND state = 'queued' AND reason LIKE 'no_pane%' AND NOT EXISTS (
        SELECT 1 FROM outbox WHERE outbox.kind = 'delivery' AND outbox.recipient = deliveries.recipient
          AND outbox.message = deliveries.message)`,
    values: [now, recipient],
  };
}

/** Whoever has read its inbox needs no hint any more; committed with its cursor. */
export function closeRead(recipient: string, upTo: number, at: number): readonly Statement[] {
  const reason = 'recipient_active: it has read its inbox';
  const where = `recipient = ? AND message <= ? AND ${isOpen}`;
  return [
    {
      sql: `INSERT INTO delivery_steps (recipient, message, at, state, door, reason)
        SELECT recipient, message, ?, 'seen', door, ? FROM deliveries WHERE ${where}`,
      values: [at, reason, recipient, upTo],
    },
    {
      sql: `UPDATE deliveries SET state = 'seen', reason = ?, updated_at = ?, next_at = NULL WHERE ${where}`,
      values: [reason, at, recipient, upTo],
    },
    {
      sql: `DELETE FROM outbox WHERE kind = 'delivery' AND recipient = ? AND message <= ?`,
      values: [recipient, upTo],
    },
  ];
}

/** One thing that was done about a delivery. */
export interface DeliveryStep {
  readonly recipient: string;
  readonly at: number;
  readonly state: DeliveryState;
  readonly door: string | null;
  readonly reason: string | null;
}

/** Everything that was done about a message, in order. */
export function stepsOf(store: Store, message: number): Promise<readonly DeliveryStep[]> {
  return store.query<DeliveryStep>(
    'SELECT recipient, at, state, door, reason FROM delivery_steps WHERE message = ? ORDER BY id LIMIT 1000',
    [message],
  );
}
