/** One step of the schema. Steps only add: a released one is never changed, and the next gets the next number. */
export interface Migration {
  readonly id: number;
  readonly name: string;
  readonly statements: readonly string[];
  /** Texts that can be searched by their words from then on. */
  readonly searches?: readonly SearchIndex[];
}

/** Which columns of a table are searched; every database has its own way of keeping such an index. */
export interface SearchIndex {
  readonly name: string;
  readonly table: string;
  /** A column of whole numbers that names a row. */
  readonly key: string;
  readonly columns: readonly string[];
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
  {
    id: 4,
    name: 'mail',
    statements: [
      `CREATE TABLE mail_agents (
        id TEXT PRIMARY KEY,
        project_key TEXT NOT NULL,
        name TEXT NOT NULL,
        record TEXT NOT NULL,
        UNIQUE (project_key, name)
      ) STRICT`,
      `CREATE TABLE mailboxes (
        recipient TEXT PRIMARY KEY,
        read_up_to INTEGER NOT NULL
      ) STRICT`,
      `CREATE TABLE messages (
        seq INTEGER PRIMARY KEY,
        id TEXT NOT NULL UNIQUE,
        sender TEXT NOT NULL,
        from_participant TEXT NOT NULL,
        project TEXT NOT NULL,
        addressed TEXT NOT NULL,
        kind TEXT NOT NULL,
        thread TEXT NOT NULL,
        reply_to TEXT,
        hops INTEGER NOT NULL,
        importance TEXT NOT NULL,
        need_reply INTEGER NOT NULL,
        subject TEXT,
        body TEXT NOT NULL,
        sent_at INTEGER NOT NULL
      ) STRICT`,
      'CREATE INDEX messages_by_sender ON messages (sender, seq)',
      'CREATE INDEX messages_by_thread ON messages (thread, seq)',
      'CREATE INDEX messages_by_age ON messages (sent_at)',
      `CREATE TABLE deliveries (
        recipient TEXT NOT NULL,
        message INTEGER NOT NULL REFERENCES messages (seq),
        state TEXT NOT NULL CHECK (state IN ('queued', 'written', 'seen', 'failed', 'uncertain')),
        door TEXT,
        reason TEXT,
        attempts INTEGER NOT NULL DEFAULT 0,
        next_at INTEGER,
        updated_at INTEGER NOT NULL,
        PRIMARY KEY (recipient, message)
      ) STRICT, WITHOUT ROWID`,
      'CREATE INDEX deliveries_by_message ON deliveries (message)',
      `CREATE TABLE outbox (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        kind TEXT NOT NULL,
        message INTEGER NOT NULL,
        recipient TEXT NOT NULL,
        due_at INTEGER NOT NULL,
        attempts INTEGER NOT NULL DEFAULT 0
      ) STRICT`,
      'CREATE INDEX outbox_by_due ON outbox (kind, due_at)',
      'CREATE INDEX outbox_by_message ON outbox (message)',
      `CREATE TABLE mail_facts (
        name TEXT PRIMARY KEY,
        value TEXT NOT NULL
      ) STRICT`,
    ],
    searches: [{ name: 'messages_search', table: 'messages', key: 'seq', columns: ['subject', 'body'] }],
  },
  {
    id: 5,
    name: 'tasks',
    statements: [
      `CREATE TABLE tasks (
        seq INTEGER PRIMARY KEY AUTOINCREMENT,
        id TEXT NOT NULL UNIQUE,
        project_key TEXT NOT NULL,
        project TEXT NOT NULL,
        title TEXT NOT NULL,
        description TEXT,
        state TEXT NOT NULL CHECK (state IN ('pending', 'in_progress', 'completed')),
        owner TEXT,
        owner_name TEXT,
        owner_pane TEXT,
        fence INTEGER NOT NULL DEFAULT 0,
        lease_until INTEGER,
        result TEXT,
        created_by TEXT NOT NULL,
        created_at INTEGER NOT NULL,
        completed_at INTEGER
      ) STRICT`,
      'CREATE INDEX tasks_by_project ON tasks (project_key, state, seq)',
      'CREATE INDEX tasks_by_lease ON tasks (state, lease_until)',
      'CREATE INDEX tasks_by_age ON tasks (completed_at)',
      `CREATE TABLE task_dependencies (
        task TEXT NOT NULL REFERENCES tasks (id),
        needs TEXT NOT NULL REFERENCES tasks (id),
        PRIMARY KEY (task, needs)
      ) STRICT, WITHOUT ROWID`,
      'CREATE INDEX task_dependencies_by_need ON task_dependencies (needs)',
      `CREATE TABLE task_contracts (
        task TEXT NOT NULL REFERENCES tasks (id),
        contract TEXT NOT NULL,
        name TEXT NOT NULL,
        built_on INTEGER NOT NULL,
        current INTEGER NOT NULL,
        PRIMARY KEY (task, contract)
      ) STRICT, WITHOUT ROWID`,
      'CREATE INDEX task_contracts_by_contract ON task_contracts (contract)',
    ],
  },
  {
    id: 6,
    name: 'contracts',
    statements: [
      `CREATE TABLE contracts (
        key TEXT PRIMARY KEY,
        project_key TEXT NOT NULL,
        project TEXT NOT NULL,
        name TEXT NOT NULL,
        latest INTEGER NOT NULL,
        watch TEXT,
        root TEXT,
        problem TEXT,
        created_at INTEGER NOT NULL
      ) STRICT`,
      'CREATE INDEX contracts_by_project ON contracts (project_key, name)',
      `CREATE TABLE contract_versions (
        contract TEXT NOT NULL REFERENCES contracts (key),
        version INTEGER NOT NULL,
        format TEXT NOT NULL,
        document TEXT NOT NULL,
        digest TEXT NOT NULL,
        diff TEXT,
        breaking INTEGER NOT NULL,
        note TEXT,
        registered_by TEXT NOT NULL,
        registered_at INTEGER NOT NULL,
        PRIMARY KEY (contract, version)
      ) STRICT`,
      `CREATE TABLE contract_subscriptions (
        contract TEXT NOT NULL,
        subscriber TEXT NOT NULL,
        participant TEXT NOT NULL,
        PRIMARY KEY (contract, subscriber)
      ) STRICT, WITHOUT ROWID`,
      `CREATE TABLE contract_notices (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        contract TEXT NOT NULL REFERENCES contracts (key),
        version INTEGER NOT NULL,
        recipient TEXT NOT NULL,
        reason TEXT NOT NULL CHECK (reason IN ('subscribed', 'task')),
        created_at INTEGER NOT NULL,
        mailed INTEGER NOT NULL DEFAULT 0,
        acknowledged_at INTEGER,
        UNIQUE (recipient, contract, version)
      ) STRICT`,
      'CREATE INDEX contract_notices_by_mail ON contract_notices (mailed, id)',
    ],
  },
  {
    id: 7,
    name: 'twins of captures',
    statements: [
      "ALTER TABLE captures ADD COLUMN origin TEXT NOT NULL DEFAULT ''",
      'ALTER TABLE captures ADD COLUMN digest BLOB',
      'ALTER TABLE captures ADD COLUMN as_tool INTEGER NOT NULL DEFAULT 0',
      'CREATE INDEX captures_by_agent ON captures (agent, occurred_at)',
      'CREATE INDEX captures_by_digest ON captures (digest, origin) WHERE digest IS NOT NULL',
      `CREATE TABLE capture_twins (
        id TEXT PRIMARY KEY,
        capture TEXT NOT NULL,
        origin TEXT NOT NULL
      ) STRICT`,
      'CREATE INDEX capture_twins_by_capture ON capture_twins (capture)',
    ],
  },
  {
    id: 8,
    name: 'claims on files',
    statements: [
      `CREATE TABLE file_claims (
        seq INTEGER PRIMARY KEY AUTOINCREMENT,
        id TEXT NOT NULL UNIQUE,
        root TEXT NOT NULL,
        paths TEXT NOT NULL,
        mode TEXT NOT NULL,
        holder TEXT NOT NULL,
        holder_name TEXT NOT NULL,
        holder_pane TEXT,
        reason TEXT,
        claimed_at INTEGER NOT NULL,
        until INTEGER NOT NULL
      ) STRICT`,
    ],
  },
  {
    id: 9,
    name: 'adopted agents',
    statements: [
      `CREATE TABLE adopted_agents (
        id TEXT PRIMARY KEY,
        record TEXT NOT NULL,
        adopted_at INTEGER NOT NULL
      ) STRICT`,
    ],
  },
  {
    id: 10,
    name: 'delivery',
    statements: [
      'ALTER TABLE deliveries ADD COLUMN hint INTEGER',
      `CREATE INDEX deliveries_open ON deliveries (recipient, message) WHERE state <> 'seen'`,
      'CREATE INDEX outbox_by_recipient ON outbox (kind, recipient, message)',
      `CREATE TABLE delivery_steps (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        recipient TEXT NOT NULL,
        message INTEGER NOT NULL,
        at INTEGER NOT NULL,
        state TEXT NOT NULL,
        door TEXT,
        reason TEXT
      ) STRICT`,
      'CREATE INDEX delivery_steps_by_message ON delivery_steps (message, id)',
    ],
  },
];

export function searchIndex(steps: readonly Migration[], name: string): SearchIndex | undefined {
  return steps.flatMap(({ searches = [] }) => searches).find((index) => index.name === name);
}
