import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { closeRead } from '../src/delivery/delivery-rows.ts';
import { createEventLog, type EventLog } from '../src/events/event-log.ts';
import { Addresses } from '../src/mail/addresses.ts';
import { AgentBook } from '../src/mail/agent-book.ts';
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
  readonly at: number;
  readonly needReply: boolean;
  readonly recipients: readonly string[];
}

/** Whom a message is for: some of them by name, all of them, or those of a role. */
type To = readonly number[] | 'everyone' | 'role';

/** A few agents, what each should find, and how far each has read. */
class World {
  readonly keys = [1, 2, 3].map((n) => `agt_${++runs}_${n}`);
  readonly #project = `p${runs}`;
  readonly #addresses = this.#meet();
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
      onRead: closeRead,
    });
    return this.#mailbox;
  }

  /** All are in one project; the first two have a role. */
  #meet(): Addresses {
    const book = new AgentBook();
    for (const [index, id] of this.keys.entries())
      book.put({
        ...{ id, name: id, project: this.#project, projectKey: this.#project, pane: null, secretHash: '' },
        ...{ generation: 0, registeredAt: 0, seenAt: 0, role: index < 2 ? 'tester' : undefined },
      });
    return new Addresses({
      ...{ book, user: 'user:ada', isInvited: () => false, people: () => [] },
      identity: undefined as never,
    });
  }

  /** Who is meant, as the hub finds it out, and as it should. */
  #recipients(
    from: string,
    to: To,
  ): { readonly found: readonly string[]; readonly meant: readonly string[] } {
    const others = (keys: readonly string[]): readonly string[] => keys.filter((one) => one !== from);
    if (to !== 'everyone' && to !== 'role') {
      const named = others([...new Set(to.map((one) => this.#keyOf(one)))]);
      return { found: named, meant: named };
    }
    const role = to === 'role' ? 'Tester' : undefined;
    const found = this.#addresses.members(this.#project, { key: from, name: from }, role);
    return {
      found: found.map(({ key }) => key),
      meant: others(to === 'role' ? this.keys.slice(0, 2) : this.keys),
    };
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

  async send(from: number, to: To, needReply: boolean, death: Death): Promise<void> {
    const key = this.#keyOf(from);
    const { found, meant } = this.#recipients(key, to);
    if (meant.length === 0) return;
    const sender: Sender = {
      ...{ key, name: key, participant: 'agent:a', isAgent: false, source: { participant: 'agent:a' } },
    };
    const mailbox = await this.mailbox();
    const body = `text ${++ids}`;
    const letter = {
      ...{ kind: 'direct' as const, project: this.#project, addressed: 'x', body, need_reply: needReply },
      recipients: found.map((one) => ({ key: one, name: one })),
    };
    await this.#dying(() => mailbox.send(sender, letter, this.#commit(death)));
    if (death === 'before') return;
    const { lastSeq: seq } = await this.mailbox();
    expect(World.numbers.has(seq), `the number ${seq} was given out twice`).toBe(false);
    World.numbers.add(seq);
    const sent: Sent = { body, seq, at: now, needReply, recipients: meant };
    for (const one of meant) this.inboxes.get(one)?.push(sent);
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

  /** Two readers at once: each message goes to one of them, and none is left out. */
  async race(which: number): Promise<void> {
    const key = this.#keyOf(which);
    const cursor = this.cursors.get(key) ?? 0;
    const expected = (this.inboxes.get(key) ?? []).filter(({ seq }) => seq > cursor);
    const mailbox = await this.mailbox();
    const source = { participant: 'agent:a' as const };
    const pages = await Promise.all(
      [2, 3].map((limit) => mailbox.read({ key, name: key }, source, { limit }, this.#commit('never'))),
    );
    const got = pages.flatMap(({ messages }) => messages.map(({ event_id }) => event_id));
    expect(got.toSorted((a, b) => a - b)).toEqual(expected.slice(0, 2 + 3).map(({ seq }) => seq));
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
      const left = inbox.filter((sent) => this.#isKept(sent));
      expect(
        inbox.filter(({ seq }) => kept.has(seq)),
        `what is kept for ${key}`,
      ).toEqual(left);
      this.inboxes.set(key, left);
    }
  }

  /** What all have read is kept for 30 days, and what somebody has not for 90. */
  #isKept({ at, seq, recipients }: Sent): boolean {
    const isUnread = recipients.some((key) => seq > (this.cursors.get(key) ?? 0));
    return now - at <= (isUnread ? 90 : 30) * dayMs;
  }

  async check(): Promise<void> {
    const mailbox = await this.mailbox();
    for (const key of this.keys) {
      const cursor = this.cursors.get(key) ?? 0;
      expect(await mailbox.cursorOf(key), `how far ${key} has read`).toBe(cursor);
      const all = this.inboxes.get(key) ?? [];
      const unread = all.filter(({ seq }) => seq > cursor);
      expect(await mailbox.unreadOf(key), `what is new for ${key}`).toBe(unread.length);
      expect(await this.#toDo('delivery', key), `what ${key} is to be told of`).toEqual(unread.map(seqOf));
      const asked = all.filter(({ needReply }) => needReply);
      expect(await this.#toDo('unread-alert', key), `what ${key} is to answer`).toEqual(asked.map(seqOf));
    }
  }

  async #toDo(kind: string, recipient: string): Promise<readonly number[]> {
    const rows = await store.query<{ readonly message: number }>(
      'SELECT message FROM outbox WHERE kind = ? AND recipient = ? ORDER BY message',
      [kind, recipient],
    );
    return rows.map(({ message }) => message);
  }
}

const seqOf = ({ seq }: Sent): number => seq;

const death = fc.constantFrom(...deaths);
const order = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      do: fc.constant('send' as const),
      from: fc.nat(2),
      to: fc.oneof(
        { weight: 2, arbitrary: fc.array(fc.nat(2), { minLength: 1, maxLength: 3 }) },
        { weight: 1, arbitrary: fc.constantFrom('everyone' as const, 'role' as const) },
      ),
      needReply: fc.boolean(),
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

it('each message that was promised is read once and in order by those it is for, a cursor moves by being read alone, and no number comes back, whenever the hub is killed', async () => {
  await fc.assert(
    // Without its size it would make ten at most.
    fc.asyncProperty(fc.array(order, { maxLength: 30, size: 'max' }), async (orders) => {
      const world = new World();
      for (const one of orders) {
        if (one.do === 'send') await world.send(one.from, one.to, one.needReply, one.death);
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
