/** One step of the schema. Steps only add: a released one is never changed, and the next gets the next number. */
export interface Migration {
  readonly id: number;
  readonly name: string;
  readonly statements: readonly string[];
}

export const migrations: readonly Migration[] = [
  {
    id: 1,
    name: 'events, panes, idempotency keys',
    statements: [
      `CREATE TABLE events (
        seq INTEGER PRIMARY KEY AUTOINCREMENT,
        name TEXT NOT NULL,
        payload TEXT NOT NULL,
        source TEXT NOT NULL,
        pane TEXT,
        occurred_at INTEGER NOT NULL,
        received_at INTEGER NOT NULL
      ) STRICT`,
      `CREATE TABLE panes (
        id TEXT PRIMARY KEY,
        record TEXT NOT NULL,
        created_at INTEGER NOT NULL
      ) STRICT`,
      `CREATE TABLE idempotency_keys (
        participant TEXT NOT NULL,
        key TEXT NOT NULL,
        request_hash TEXT NOT NULL,
        answer TEXT,
        created_at INTEGER NOT NULL,
        PRIMARY KEY (participant, key)
      ) STRICT`,
      'CREATE INDEX idempotency_keys_by_age ON idempotency_keys (created_at)',
    ],
  },
  {
    id: 2,
    name: 'approvals',
    statements: [
      `CREATE TABLE approvals (
        id TEXT PRIMARY KEY,
        state TEXT NOT NULL,
        approval TEXT,
        settled_by TEXT,
        created_at INTEGER NOT NULL
      ) STRICT`,
    ],
  },
  {
    id: 3,
    name: 'captures',
    statements: [
      `CREATE TABLE captures (
        seq INTEGER PRIMARY KEY AUTOINCREMENT,
        id TEXT NOT NULL UNIQUE,
        agent TEXT NOT NULL,
        event TEXT NOT NULL,
        kind TEXT NOT NULL,
        session TEXT,
        pane TEXT,
        tmux TEXT NOT NULL,
        occurred_at INTEGER NOT NULL,
        received_at INTEGER NOT NULL,
        normalised TEXT NOT NULL,
        raw BLOB NOT NULL
      ) STRICT`,
      'CREATE INDEX captures_by_session ON captures (session, seq)',
      'CREATE INDEX captures_by_pane ON captures (pane, seq)',
    ],
  },
];
