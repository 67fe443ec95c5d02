import { StoreError } from './errors.ts';
import type { NewEvent, StoredEvent, Value } from './store.ts';

/** An event's columns but for `seq`, in the order of the table. */
export type EventColumns = readonly [
  name: string,
  payload: string,
  source: string,
  pane: string | null,
  occurredAt: number,
  receivedAt: number,
];

export interface EventRow {
  readonly seq: number;
  readonly name: string;
  readonly payload: string;
  readonly source: string;
  readonly pane: string | null;
  readonly occurred_at: number;
  readonly received_at: number;
}

export function columnsOf(event: NewEvent, receivedAt: number): EventColumns {
  const { name, payload = null, source, pane = null, occurredAt } = event;
  return [name, JSON.stringify(payload) ?? 'null', source, pane, occurredAt, receivedAt];
}

/** What a later read of the log will answer too. */
export function eventFrom(seq: number, columns: EventColumns): StoredEvent {
  const [name, payload, source, pane, occurredAt, receivedAt] = columns;
  return { seq, name, payload: parsePayload(seq, payload), source, pane, occurredAt, receivedAt };
}

function parsePayload(seq: number, payload: string): unknown {
  try {
    return JSON.parse(payload);
  } catch (cause) {
    throw new StoreError({ code: 'corrupt', message: `The payload of event ${seq} is damaged.` }, { cause });
  }
}

export function eventOf(row: EventRow): StoredEvent {
  const { seq, name, payload, source, pane, occurred_at, received_at } = row;
  return eventFrom(seq, [name, payload, source, pane, occurred_at, received_at]);
}

/** A condition on `name` for exact names, `prefix:*` and `*`. */
export function filterOf(names: readonly string[]): {
  readonly sql: string;
  readonly values: readonly Value[];
} {
  if (names.includes('*')) return { sql: '1 = 1', values: [] };
  const parts = names.map((name) => {
    if (!name.endsWith(':*')) return { sql: 'name = ?', values: [name] };
    const prefix = name.slice(0, -2);
    return { sql: 'name >= ? AND name < ?', values: [`${prefix}:`, `${prefix};`] }; // ";" follows ":".
  });
  return {
    sql: parts.map(({ sql }) => sql).join(' OR ') || '1 = 0',
    values: parts.flatMap(({ values }) => values),
  };
}

/** Refuses what one of the databases could not keep. */
export function refuseValues(values: readonly Value[]): void {
  for (const [index, value] of values.entries()) {
    const problem = problemOf(value);
    if (problem) throw new StoreError({ code: 'refused', message: `Value ${index} ${problem}.` });
    if (typeof value === 'string' && value.includes('\0'))
      throw new StoreError({
        code: 'unstorable',
        message: `Value ${index} is text with a NUL, which only JSON and bytes can carry.`,
      });
  }
}

function problemOf(value: unknown): string | undefined {
  if (value === null || value instanceof Uint8Array) return undefined;
  if (typeof value === 'number') return Number.isFinite(value) ? undefined : `is ${value}`;
  return typeof value === 'string'
    ? undefined
    : `is of type ${typeof value}: give text, a number, bytes or null`;
}
