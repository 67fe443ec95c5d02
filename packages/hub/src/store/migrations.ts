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
  /** A column of whole numbers that names a row: a new one has a greater number than all before it. */
  readonly key: string;
  readonly columns: readonly string[];
}

const messagesSearch: SearchIndex = {
  ...{ name: 'messages_search', table: 'messages', key: 'seq', columns: ['subject', 'body'] },
};
const timelineSearch: SearchIndex = {
  ...{ name: 'timeline_search', table: 'timeline', key: 'seq', columns: ['text'] },
};

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
    searches: [messagesSearch],
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
  {
    id: 11,
    name: 'the floor',
    statements: [
      `CREATE TABLE projects (
        key TEXT PRIMARY KEY,
        name TEXT NOT NULL,
        archived_at INTEGER,
        deleted_at INTEGER,
        retention_days INTEGER,
        created_by TEXT NOT NULL,
        created_at INTEGER NOT NULL
      ) STRICT`,
      `CREATE TABLE project_names (
        name_key TEXT PRIMARY KEY,
        project TEXT NOT NULL REFERENCES projects (key),
        name TEXT NOT NULL,
        since INTEGER NOT NULL
      ) STRICT`,
      'CREATE INDEX project_names_by_project ON project_names (project, since)',
      `CREATE TABLE project_tags (
        project TEXT NOT NULL REFERENCES projects (key),
        tag TEXT NOT NULL,
        PRIMARY KEY (project, tag)
      ) STRICT, WITHOUT ROWID`,
      'CREATE INDEX project_tags_by_tag ON project_tags (tag)',
      // Projects that mail, tasks and contracts have named so far.
      `INSERT INTO projects (key, name, created_by, created_at)
        SELECT project_key, min(project), 'hub', CAST(min(at) AS INTEGER) FROM (
          SELECT project_key, json_extract(record, '$.project') AS project, json_extract(record, '$.registeredAt') AS at
            FROM mail_agents
          UNION ALL SELECT project_key, project, created_at FROM tasks
          UNION ALL SELECT project_key, project, created_at FROM contracts
        ) AS named GROUP BY project_key`,
      'INSERT INTO project_names (name_key, project, name, since) SELECT key, key, name, created_at FROM projects',
      `CREATE TABLE floor_sessions (
        id TEXT PRIMARY KEY,
        project TEXT NOT NULL REFERENCES projects (key),
        slug TEXT NOT NULL,
        slug_key TEXT NOT NULL,
        label TEXT,
        agent TEXT,
        driver TEXT,
        fence INTEGER NOT NULL DEFAULT 0,
        lease_until INTEGER,
        forked_from TEXT,
        resumed_from TEXT,
        prompts INTEGER NOT NULL DEFAULT 0,
        entries INTEGER NOT NULL DEFAULT 0,
        active_at INTEGER NOT NULL,
        created_by TEXT NOT NULL,
        created_at INTEGER NOT NULL,
        archived_at INTEGER,
        UNIQUE (project, slug_key)
      ) STRICT`,
      'CREATE INDEX floor_sessions_by_activity ON floor_sessions (project, active_at)',
      'CREATE INDEX floor_sessions_by_slug ON floor_sessions (slug_key)',
      `CREATE TABLE floor_bindings (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        session TEXT NOT NULL REFERENCES floor_sessions (id),
        pane TEXT,
        vendor TEXT,
        conversation TEXT,
        from_at INTEGER NOT NULL,
        until_at INTEGER,
        ended_by TEXT CHECK (ended_by IN ('left', 'moved', 'gone', 'changed', 'forked', 'archived'))
      ) STRICT`,
      'CREATE INDEX floor_bindings_by_session ON floor_bindings (session, id)',
      'CREATE INDEX floor_bindings_by_pane ON floor_bindings (pane, from_at)',
      'CREATE INDEX floor_bindings_by_conversation ON floor_bindings (conversation, from_at)',
      // One agent feeds one session at a time.
      'CREATE UNIQUE INDEX floor_bindings_of_pane ON floor_bindings (pane) WHERE until_at IS NULL AND pane IS NOT NULL',
      `CREATE UNIQUE INDEX floor_bindings_of_conversation ON floor_bindings (vendor, conversation)
        WHERE until_at IS NULL AND pane IS NULL`,
      `CREATE TABLE timeline (
        seq INTEGER PRIMARY KEY AUTOINCREMENT,
        id TEXT NOT NULL UNIQUE,
        session TEXT NOT NULL REFERENCES floor_sessions (id),
        project TEXT NOT NULL,
        kind TEXT NOT NULL,
        sender TEXT NOT NULL,
        occurred_at INTEGER NOT NULL,
        received_at INTEGER NOT NULL,
        capture TEXT UNIQUE,
        call TEXT,
        text TEXT NOT NULL,
        data TEXT NOT NULL,
        reconstructed INTEGER NOT NULL DEFAULT 0
      ) STRICT`,
      'CREATE INDEX timeline_by_time ON timeline (session, occurred_at, seq)',
      'CREATE INDEX timeline_by_seq ON timeline (session, seq)',
      'CREATE INDEX timeline_by_kind ON timeline (session, kind, seq)',
      'CREATE INDEX timeline_by_project ON timeline (project, seq)',
      'CREATE INDEX timeline_by_call ON timeline (session, call) WHERE call IS NOT NULL',
      `CREATE TABLE annotations (
        seq INTEGER PRIMARY KEY AUTOINCREMENT,
        id TEXT NOT NULL UNIQUE,
        session TEXT NOT NULL REFERENCES floor_sessions (id),
        project TEXT NOT NULL,
        entry TEXT REFERENCES timeline (id),
        kind TEXT NOT NULL CHECK (kind IN ('star', 'tag', 'decision')),
        value TEXT,
        created_by TEXT NOT NULL,
        created_at INTEGER NOT NULL
      ) STRICT`,
      'CREATE INDEX annotations_by_session ON annotations (session, seq)',
      'CREATE INDEX annotations_by_entry ON annotations (entry) WHERE entry IS NOT NULL',
      'CREATE INDEX annotations_by_kind ON annotations (kind, project, seq)',
      `CREATE TABLE floor_links (
        session TEXT NOT NULL REFERENCES floor_sessions (id),
        kind TEXT NOT NULL CHECK (kind IN ('branch', 'commit', 'pull_request')),
        value TEXT NOT NULL,
        entry TEXT NOT NULL,
        seen_at INTEGER NOT NULL,
        PRIMARY KEY (session, kind, value)
      ) STRICT, WITHOUT ROWID`,
    ],
    searches: [timelineSearch],
  },
  {
    id: 12,
    name: 'people',
    statements: [
      `CREATE TABLE people (
        name TEXT PRIMARY KEY,
        display_name TEXT NOT NULL,
        generation INTEGER NOT NULL,
        invitation TEXT,
        invitation_until INTEGER,
        invited_at INTEGER NOT NULL,
        came_at INTEGER,
        removed_at INTEGER
      ) STRICT`,
    ],
  },
  {
    id: 13,
    name: 'the seat of a session',
    statements: [
      // Where there is no key, a driver is known by the participant.
      'ALTER TABLE floor_sessions ADD COLUMN driver_key TEXT',
      'ALTER TABLE floor_sessions ADD COLUMN driver_pane TEXT',
      'ALTER TABLE floor_sessions ADD COLUMN driver_since INTEGER',
      'CREATE INDEX floor_sessions_by_lease ON floor_sessions (lease_until) WHERE driver IS NOT NULL',
    ],
  },
  {
    id: 14,
    name: 'agents of bindings',
    statements: ['ALTER TABLE floor_bindings ADD COLUMN agent TEXT'],
  },
  {
    id: 15,
    name: 'timelines by age',
    statements: ['CREATE INDEX timeline_by_age ON timeline (project, occurred_at)'],
  },
  {
    id: 16,
    name: 'captures that no hook told',
    statements: ["CREATE INDEX captures_reconstructed ON captures (session) WHERE origin = 'transcript'"],
  },
  {
    id: 17,
    name: 'named agents',
    statements: [
      `CREATE TABLE named_agents (
        name TEXT PRIMARY KEY,
        record TEXT NOT NULL
      ) STRICT`,
      `CREATE TABLE named_members (
        agent TEXT NOT NULL,
        project TEXT NOT NULL,
        session TEXT NOT NULL,
        slug TEXT NOT NULL,
        how TEXT NOT NULL CHECK (how IN ('tag', 'invited', 'registered')),
        pane TEXT,
        state TEXT NOT NULL,
        reason TEXT,
        restarts INTEGER NOT NULL DEFAULT 0,
        started_at INTEGER,
        next_at INTEGER,
        watched INTEGER NOT NULL DEFAULT 0,
        since INTEGER NOT NULL,
        PRIMARY KEY (agent, project)
      ) STRICT, WITHOUT ROWID`,
      `CREATE TABLE named_secrets (
        agent TEXT NOT NULL,
        variable TEXT NOT NULL,
        sealed BLOB NOT NULL,
        PRIMARY KEY (agent, variable)
      ) STRICT, WITHOUT ROWID`,
    ],
  },
  {
    id: 18,
    name: 'what named agents have just said',
    statements: [
      `CREATE TABLE named_said (
        agent TEXT NOT NULL,
        project TEXT NOT NULL,
        at INTEGER NOT NULL
      ) STRICT`,
      'CREATE INDEX named_said_by_place ON named_said (agent, project, at)',
    ],
  },
  {
    id: 19,
    name: 'less to write with each message',
    // Each cost a page of every message, for what retention finds in the order of numbers and by recipient.
    statements: ['DROP INDEX messages_by_age', 'DROP INDEX outbox_by_message'],
    searches: [messagesSearch, timelineSearch],
  },
];

export function searchIndexes(steps: readonly Migration[]): ReadonlyMap<string, SearchIndex> {
  return new Map(steps.flatMap(({ searches = [] }) => searches).map((index) => [index.name, index]));
}
