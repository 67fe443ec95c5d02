import { existsSync } from 'node:fs';
import { openReader } from '../store/connection.ts';

/** What the record has of one agent's events. */
export interface Counted {
  readonly captured: number;
  /** When the last of them happened, in milliseconds since 1970. */
  readonly lastAt: number;
}

/** By agent, from the record itself, whether a hub runs or not; nothing where there is none, or an older one. */
export function countCaptured(database: string): Readonly<Record<string, Counted>> {
  if (!existsSync(database)) return {};
  const db = openReader(database);
  try {
    const sql = 'SELECT agent, count(*) AS captured, max(occurred_at) AS lastAt FROM captures GROUP BY agent';
    const rows = db.prepare(sql).all() as readonly (Counted & { readonly agent: string })[];
    return Object.fromEntries(rows.map(({ agent, ...counted }) => [agent, counted]));
  } catch (error) {
    if (/no such table/.test((error as Error).message)) return {};
    throw error;
  } finally {
    db.close();
  }
}
