import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createEventLog, type EventLog } from '../src/events/event-log.ts';
import { PairLimit } from '../src/mail/limits.ts';
import { Mailbox, type Sender } from '../src/mail/mailbox.ts';
import { Retention } from '../src/mail/retention.ts';
import type { Step } from '../src/registry/registry.ts';
import { openSqliteStore, type SqliteStore } from '../src/store/sqlite.ts';

const dayMs = 24 * 3_600_000;
const log = { error: () => undefined, warn: () => undefined, info: () => undefined } as never;

let folder: string;
let store: SqliteStore;
let events: EventLog;
let runs = 0;
let ids = 0;
let now = Date.now();
const clock = { now: () => now, monotonic: () => now };

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'poly-mail-model-'));
  store = await openSqliteStore({ file: join(folder, 'hub.db') });
  events = await createEventLog({ store, clock });
});
afterAll(async () => {
  await store.close();
  rmSync(folder, { recursive: true });
});

/** When the hub is killed: nothing of a step is on the disk, or all of it is and nobody heard so. */
const deaths = ['never', 'before', 'after'] as const;
type Death = (typeof deaths)[number];
class Killed extends Error {}

interface Sent {
  readonly body: string;
  readonly seq: number;
}

/** A few agents, what each should find, and how far each has read. */
class World {
  readonly keys = [1, 2, 3].map((n) => `agt_${++runs}_${n}`);
  /** What is in each inbox, the oldest first; by the texts that were promised, or may have been kept. */
  readonly inboxes = new Map<string, Sent[]>(this.keys.map((key) => [key, []]));
  readonly cursors = new Map<string, number>(this.keys.map((key) => [key, 0]));
  #mailbox: Mailbox | undefined;
  /** Every number that was ever on the disk. */
  static readonly numbers = new Set<number>();

  async mailbox(): Promise<Mailbox> {
    const random = { hex: () => (++ids).toString(16).padStart(16, '0'), token: () => '' } as never;
    const limit = new PairLimit(clock);
    this.#mailbox ??= await Mailbox.open({
      ...{ store, clock, random, limit, unreadAlertMs: 1, user: 'user:me' },
      nameOf: (key) => key,
    });
    return this.#mailbox;
  }

  /** A commit during which the hub may be killed; the next hub has nothing but the disk. */
  #commit(death: Death): (step: Step) => ReturnType<EventLog['append']> {
    return async ({ statements = [], drafts = [] }) => {
      if (death === 'before') throw new Killed();
      const done = await events.append(drafts, statements);
      if (death === 'after') throw new Killed();
      return done;
    };
  }

  async #dying(work: () => Promise<unknown>): Promise<boolean> {
    try {
      await work();
      return false;
    } catch (error) {
      if (!(error instanceof Killed)) throw error;
      this.#mailbox = undefined;
      return true;
    }
  }

  #keyOf(which: number): string {
    return this.keys[which % this.keys.length] ?? '';
  }

  async send(from: number, to: readonly number[], death: Death): Promise<void> {
    const key = this.#keyOf(from);
    const recipients = [...new Set(to.map((one) => this.#keyOf(one)))].filter((one) => one !== key);
    if (recipients.length === 0) return;
    const sender: Sender = {
      ...{ key, name: key, participant: 'agent:a', isAgent: false, source: { participant: 'agent:a' } },
    };
    const mailbox = await this.mailbox();
    const body = `text ${++ids}`;
    const letter = {
      ...{ kind: 'direct' as const, project: 'p', addressed: 'x', body, need_reply: false },
      recipients: recipients.map((one) => ({ key: one, name: one })),
    };
    await this.#dying(() => mailbox.send(sender, letter, this.#commit(death)));
    if (death === 'before') return;
    const { lastSeq: seq } = await this.mailbox();
    expect(World.numbers.has(seq), `the number ${seq} was given out twice`).toBe(false);
    World.numbers.add(seq);
    for (const one of recipients) this.inboxes.get(one)?.push({ body, seq });
  }

  /** What a reader is handed is what comes next; the cursor goes with it, or stays where it was. */
  async read(which: number, limit: number, death: Death): Promise<void> {
    const key = this.#keyOf(which);
    const cursor = this.cursors.get(key) ?? 0;
    const expected = (this.inboxes.get(key) ?? []).filter(({ seq }) => seq > cursor);
    const mailbox = await this.mailbox();
    const source = { participant: 'agent:a' as const };
    let page: Awaited<ReturnType<Mailbox['read']>> | undefined;
    const died = await this.#dying(async () => {
      page = await mailbox.read({ key, name: key }, source, { limit }, this.#commit(death));
    });
    const handed = expected.slice(0, limit);
    if (!died) {
      expect(page?.messages.map(({ body }) => body)).toEqual(handed.map(({ body }) => body));
      expect(page?.has_more).toBe(expected.length > limit);
    }
    if (handed.length > 0 && (!died || death === 'after'))
      this.cursors.set(key, handed.at(-1)?.seq ?? cursor);
  }

  async look(which: number, since: number): Promise<void> {
    const key = this.#keyOf(which);
    const all = this.inboxes.get(key) ?? [];
    const from = all[since % (all.length || 1)]?.seq ?? 0;
    const mailbox = await this.mailbox();
    const source = { participant: 'agent:a' as const };
    const page = await mailbox.read({ key, name: key }, source, { since_event_id: from, limit: 200 }, () => {
      throw new Error('looking writes nothing');
    });
    expect(page.messages.map(({ body }) => body)).toEqual(
      all.filter(({ seq }) => seq > from).map(({ body }) => body),
    );
  }

  /** Two readers at once: each message goes to one of them. */
  async race(which: number): Promise<void> {
    const key = this.#keyOf(which);
    const mailbox = await this.mailbox();
    const source = { participant: 'agent:a' as const };
    const pages = await Promise.all(
      [2, 3].map((limit) => mailbox.read({ key, name: key }, source, { limit }, this.#commit('never'))),
    );
    const got = pages.flatMap(({ messages }) => messages.map(({ event_id }) => event_id));
    expect(new Set(got).size, 'somebody got a message twice').toBe(got.length);
    if (got.length > 0) this.cursors.set(key, Math.max(...got));
  }

  async forget(): Promise<void> {
    now += 31 * dayMs;
    const retention = await Retention.open({ store, events, clock, log, hub: { participant: 'user:ada' } });
    expect(await retention.run()).not.toHaveProperty('error');
    // The next hub has to know the numbers that are gone.
    this.#mailbox = undefined;
    const rows = await store.query<{ readonly seq: number }>('SELECT seq FROM messages');
    const kept = new Set(rows.map(({ seq }) => seq));
    for (const [key, inbox] of this.inboxes) {
      const cursor = this.cursors.get(key) ?? 0;
      const unread = inbox.filter(({ seq }) => seq > cursor);
      expect(
        unread.filter(({ seq }) => !kept.has(seq)),
        'what nobody has read is gone',
      ).toEqual([]);
      this.inboxes.set(
        key,
        inbox.filter(({ seq }) => kept.has(seq)),
      );
    }
  }

  async check(): Promise<void> {
    const mailbox = await this.mailbox();
    for (const key of this.keys) {
      const cursor = this.cursors.get(key) ?? 0;
      expect(await mailbox.cursorOf(key), `how far ${key} has read`).toBe(cursor);
      const unread = (this.inboxes.get(key) ?? []).filter(({ seq }) => seq > cursor).length;
      expect(await mailbox.unreadOf(key), `what is new for ${key}`).toBe(unread);
    }
  }
}

const death = fc.constantFrom(...deaths);
const order = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      do: fc.constant('send' as const),
      from: fc.nat(2),
      to: fc.array(fc.nat(2), { minLength: 1, maxLength: 3 }),
      death,
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('read' as const),
      who: fc.nat(2),
      limit: fc.integer({ min: 1, max: 4 }),
      death,
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('look' as const), who: fc.nat(2), since: fc.nat(9) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('race' as const), who: fc.nat(2) }) },
  { weight: 1, arbitrary: fc.constant({ do: 'forget' } as const) },
);

it('each message that was promised is read once and in order, a cursor moves by being read alone, and no number comes back, whenever the hub is killed', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(order, { maxLength: 30 }), async (orders) => {
      const world = new World();
      for (const one of orders) {
        if (one.do === 'send') await world.send(one.from, one.to, one.death);
        if (one.do === 'read') await world.read(one.who, one.limit, one.death);
        if (one.do === 'look') await world.look(one.who, one.since);
        if (one.do === 'race') await world.race(one.who);
        if (one.do === 'forget') await world.forget();
        await world.check();
      }
    }),
    { numRuns: 60 },
  );
}, 120_000);
