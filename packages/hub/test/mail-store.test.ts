import Database from 'better-sqlite3';
import { expect, it } from 'vitest';
import { createEventLog } from '../src/events/event-log.ts';
import { PairLimit } from '../src/mail/limits.ts';
import { inboxQuery, Mailbox, type Sender } from '../src/mail/mailbox.ts';
import { Retention } from '../src/mail/retention.ts';
import { systemRandom } from '../src/platform/random.ts';
import { migrations } from '../src/store/migrations.ts';
import type { Store } from '../src/store/store.ts';
import { newGround } from './store-ground.ts';

const dayMs = 24 * 3_600_000;
const hub: Sender = {
  key: 'hub',
  name: 'hub',
  participant: 'hub',
  isAgent: false,
  source: { participant: 'user:test' },
};

/** Mail on a store of its own, at a time that only the test moves. */
async function openMail(store: Store) {
  const time = { now: 1_000 * dayMs };
  const clock = { now: () => time.now, monotonic: () => time.now };
  const events = await createEventLog({ store, clock });
  const mailbox = await Mailbox.open({
    ...{ store, clock, random: systemRandom, limit: new PairLimit(clock), user: 'user:me' },
    unreadAlertMs: 1,
    nameOf: (key) => key,
  });
  const errors: unknown[] = [];
  const log = { info() {}, warn() {}, error: (_: string, more: unknown) => void errors.push(more) };
  const retention = await Retention.open({ store, events, clock, log, hub: hub.source } as never);
  const commit = (step: { statements?: readonly never[]; drafts?: readonly never[] }) =>
    events.append(step.drafts ?? [], step.statements ?? []);
  return {
    ...{ time, mailbox, retention, errors },
    send: (to: string, ...recipients: readonly string[]) =>
      mailbox.send(
        hub,
        {
          kind: 'direct',
          project: 'p',
          addressed: to,
          body: `for ${to}`,
          recipients: [to, ...recipients].map((key) => ({ key, name: key })),
        },
        commit as never,
      ),
    read: (key: string, limit = 200) =>
      mailbox.read({ key, name: key }, hub.source, { limit }, commit as never),
  };
}

it('a poll at the tail is one probe of an index, whatever else is stored', async () => {
  await using ground = newGround();
  const store = await ground.open({ migrations });
  const plan = await store.query<{ detail: string }>(`EXPLAIN QUERY PLAN ${inboxQuery()}`, ['a', 1, 51]);
  expect(plan.map(({ detail }) => detail)).toEqual([
    'SEARCH deliveries USING PRIMARY KEY (recipient=? AND message>?)',
    'SEARCH messages USING INTEGER PRIMARY KEY (rowid=?)',
  ]);
});

it('mail of every earlier schema is kept, and no cursor has moved', async () => {
  const first = migrations.findIndex(({ statements }) =>
    statements.some((one) => /TABLE mailboxes/.test(one)),
  );
  expect(first).toBeGreaterThan(0);
  for (let version = first + 1; version < migrations.length; version++) {
    await using ground = newGround();
    const old = await ground.open({ migrations: migrations.slice(0, version) });
    const columns = `seq, id, sender, from_participant, project, addressed, kind, thread, hops, importance,
      need_reply, body, sent_at`;
    const statements = [1, 2, 3].flatMap((seq) => [
      {
        sql: `INSERT INTO messages (${columns}) VALUES (?, ?, 'agt_w', 'agent:w', 'p', 'r', 'direct', 't', 0, 'normal', 1, ?, 1)`,
        values: [seq, `msg_${seq}`, `message ${seq}`],
      },
      {
        sql: `INSERT INTO deliveries (recipient, message, state, updated_at) VALUES ('r', ?, 'queued', 1)`,
        values: [seq],
      },
      {
        sql: `INSERT INTO outbox (kind, message, recipient, due_at) VALUES ('delivery', ?, 'r', 1)`,
        values: [seq],
      },
    ]);
    await old.commit({
      statements: [...statements, { sql: `INSERT INTO mailboxes (recipient, read_up_to) VALUES ('r', 1)` }],
    });
    await old.close();
    const store = await ground.open({ migrations });
    const { mailbox, read, send } = await openMail(store);
    expect([version, await mailbox.cursorOf('r'), await mailbox.unreadOf('r')]).toEqual([version, 1, 2]);
    expect(await store.query(`SELECT message FROM outbox WHERE kind = 'delivery'`)).toHaveLength(3);
    expect((await send('r')).event_id).toBe(4);
    expect((await read('r')).messages.map(({ event_id }) => event_id)).toEqual([2, 3, 4]);
    const found = await mailbox.search({ key: 'r', name: 'r' }, { query: 'message' });
    expect(found.messages).toHaveLength(3);
  }
});

it('words that an earlier hub took in with each message are found beside those of now', async () => {
  await using ground = newGround();
  const old = await ground.open({ migrations: migrations.slice(0, 18) });
  await old.close();
  const db = new Database(ground.file);
  const [added, removed] = [
    'INSERT INTO messages_search (rowid, subject, body) VALUES (new.seq, new.subject, new.body)',
    `INSERT INTO messages_search (messages_search, rowid, subject, body) VALUES ('delete', old.seq, old.subject, old.body)`,
  ];
  db.exec(`DROP TRIGGER messages_search_removed; DROP TRIGGER timeline_search_removed; DROP TABLE search_marks;
    CREATE TRIGGER messages_search_added AFTER INSERT ON messages BEGIN ${added}; END;
    CREATE TRIGGER messages_search_removed AFTER DELETE ON messages BEGIN ${removed}; END;
    INSERT INTO messages (seq, id, sender, from_participant, project, addressed, kind, thread, hops, importance,
      need_reply, body, sent_at) VALUES (1, 'msg_1', 'r', 'agent:r', 'p', 'r', 'direct', 't', 0, 'normal', 0, 'a walrus', 1)`);
  db.close();
  const store = await ground.open({ migrations });
  const { mailbox, send, retention, time } = await openMail(store);
  await send('r');
  const found = async (query: string): Promise<readonly number[]> =>
    (await mailbox.search({ key: 'r', name: 'r' }, { query })).messages.map(({ event_id }) => event_id);
  expect(await found('walrus')).toEqual([1]);
  time.now += 31 * dayMs;
  expect(await retention.run()).toMatchObject({ messages: 1 });
  expect(await found('walrus')).toEqual([]);
  await store.commit({
    statements: [
      { sql: `INSERT INTO messages_search (messages_search, rank) VALUES ('integrity-check', 1)` },
    ],
  });
});

it('what all have read goes after 30 days, what somebody has not after 90, and it is said how much', async () => {
  await using ground = newGround();
  const store = await ground.open({ migrations });
  const { time, mailbox, retention, send, read } = await openMail(store);
  await send('reader');
  await send('reader', 'absent');
  await read('reader');
  const left = async (): Promise<readonly unknown[]> =>
    (await store.query('SELECT seq FROM messages ORDER BY seq')).map(({ seq }) => seq);

  time.now += 29 * dayMs;
  expect(await retention.run()).toMatchObject({ messages: 0, deliveries: 0, unread: 0 });
  time.now += 2 * dayMs;
  expect(await retention.run()).toMatchObject({ messages: 1, deliveries: 1, unread: 0 });
  expect(await left()).toEqual([2]);
  time.now += 60 * dayMs;
  expect(await retention.run()).toMatchObject({ messages: 1, deliveries: 2, unread: 1 });
  expect(await left()).toEqual([]);
  expect(await store.query('SELECT * FROM outbox')).toEqual([]);
  expect(
    await store.query('SELECT * FROM messages_search WHERE messages_search MATCH ?', ['reader']),
  ).toEqual([]);
  // Numbers are not given out again, and nobody's cursor moves.
  expect(await mailbox.cursorOf('reader')).toBe(2);
  const again = await openMail(store);
  expect(again.retention.last).toMatchObject({ messages: 1, deliveries: 2, unread: 1 });
  expect(await again.send('reader')).toMatchObject({ event_id: 3 });
  expect((await again.read('reader')).messages).toHaveLength(1);
});

it('what cannot be forgotten is told, and stays', async () => {
  await using ground = newGround();
  const hostage = {
    id: migrations.length + 1,
    name: 'hostage',
    statements: ['CREATE TABLE hostages (message INTEGER NOT NULL REFERENCES messages (seq)) STRICT'],
  };
  const store = await ground.open({ migrations: [...migrations, hostage] });
  const { time, retention, send, read, errors } = await openMail(store);
  await send('reader');
  await read('reader');
  await store.commit({ statements: [{ sql: 'INSERT INTO hostages (message) VALUES (1)' }] });
  time.now += 31 * dayMs;
  expect(await retention.run()).toMatchObject({ messages: 0, error: expect.stringMatching(/FOREIGN KEY/) });
  expect(retention.problem).toMatch(/FOREIGN KEY/);
  expect(errors).toHaveLength(1);
  expect(await store.query('SELECT count(*) AS count FROM deliveries')).toEqual([{ count: 1 }]);
});
