import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { closeRead, schedule } from '../src/delivery/delivery-rows.ts';
import type { Door, Look, Target } from '../src/delivery/door.ts';
import { type Hint, markOf } from '../src/delivery/hint.ts';
import { Rounds } from '../src/delivery/rounds.ts';
import { createEventLog, type EventLog } from '../src/events/event-log.ts';
import { openSqliteStore, type SqliteStore } from '../src/store/sqlite.ts';

const target: Target = {
  ...{
    recipient: 'agt_1',
    pane: { id: 'pty_1', birth: 'b' },
    vendor: 'any',
    status: 'idle',
    evidence: '',
    interrupted: false,
    hooked: true,
    pid: 1,
  },
  ...{ sessionId: undefined, argv: ['any'], cwd: '/' },
};

/** Where a delivery may go from each state: what a turn has seen stays so, and what has failed can only still be read. */
const ways: Readonly<Record<string, readonly string[]>> = {
  queued: ['queued', 'written', 'seen', 'failed', 'uncertain'],
  uncertain: ['uncertain', 'written', 'seen'],
  written: ['seen', 'queued'],
  failed: ['seen'],
  seen: [],
};

/** What a door does when it is offered a hint; at a crash the hub is gone from that moment on. */
const behaviours = ['take', 'refuse', 'doubt', 'crash before', 'crash between', 'crash after'] as const;
type Behaviour = (typeof behaviours)[number];

/** A door that does as it is told, and remembers what it took: of a hint that it takes twice it tells once. */
class ModelDoor implements Door {
  readonly name: string;
  readonly repeatable: boolean;
  behaviour: Behaviour = 'refuse';
  readonly taken = new Map<string, Hint>();
  /** How often it was given something: more than what it took, only where that does no harm. */
  given = 0;
  crash: () => void = () => undefined;

  constructor(name: string, repeatable: boolean) {
    this.name = name;
    this.repeatable = repeatable;
  }

  async offer(_: Target, hint: Hint, begin: () => Promise<boolean>): ReturnType<Door['offer']> {
    const { behaviour } = this;
    if (this.repeatable && this.taken.has(hint.id)) return { state: 'written' };
    if (behaviour === 'refuse') return { state: 'refused', reason: 'not now' };
    if (behaviour === 'crash before') return this.#die();
    if (!(await begin())) return { state: 'refused', reason: 'not wanted' };
    if (behaviour === 'crash between') return this.#die();
    this.given += 1;
    this.taken.set(hint.id, hint);
    if (behaviour === 'crash after') return this.#die();
    return behaviour === 'doubt' ? { state: 'uncertain', reason: 'who knows' } : { state: 'written' };
  }

  async look(): Promise<Look> {
    return { state: 'waiting' };
  }

  #die(): Promise<never> {
    this.crash();
    return new Promise(() => undefined);
  }
}

let folder: string;
let store: SqliteStore;
let events: EventLog;
let runs = 0;
/** Numbers are given out once, whoever a message is for. */
let sent = 0;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'poly-delivery-'));
  store = await openSqliteStore({ file: join(folder, 'hub.db') });
  events = await createEventLog({ store, clock: { now: () => 0, monotonic: () => 0 } });
});
afterAll(async () => {
  await store.close();
  rmSync(folder, { recursive: true });
});

/** One recipient, whom nobody has written to before. */
class World {
  readonly recipient = `agt_${++runs}`;
  readonly doors = [new ModelDoor('repeatable', true), new ModelDoor('once', false)];
  readonly proved = new Set<number>();
  now = 1_000_000;
  read = 0;
  #rounds = this.#open();

  #open(): Rounds {
    const clock = { now: () => this.now, monotonic: () => this.now };
    const log = { error: () => undefined, warn: () => undefined, info: () => undefined } as never;
    return new Rounds({
      ...{ store, events, clock, log, hub: { participant: 'user:ada' } },
      whereIs: () => ({ kind: 'agent', name: 'alice', target }),
      doorsOf: () => this.doors,
    });
  }

  async send(): Promise<void> {
    const seq = ++sent;
    const columns =
      'seq, id, sender, from_participant, project, addressed, kind, thread, hops, importance, need_reply, body, sent_at';
    const values = [
      seq,
      `msg_${seq}`,
      'agt_2',
      'agent:bob',
      'p',
      'alice',
      'direct',
      't',
      0,
      'normal',
      0,
      'b',
      this.now,
    ];
    await store.commit({
      statements: [
        { sql: `INSERT INTO messages (${columns}) VALUES (${values.map(() => '?').join(', ')})`, values },
        {
          sql: `INSERT INTO deliveries (recipient, message, state, updated_at) VALUES (?, ?, 'queued', ?)`,
          values: [this.recipient, seq, this.now],
        },
        {
          sql: `INSERT INTO outbox (kind, message, recipient, due_at) VALUES ('delivery', ?, ?, ?)`,
          values: [seq, this.recipient, this.now],
        },
      ],
    });
  }

  /** One round; a hub that dies in it is followed by another. */
  async serve(): Promise<void> {
    const died = Promise.withResolvers<'died'>();
    for (const door of this.doors) door.crash = () => died.resolve('died');
    if ((await Promise.race([this.#rounds.serve(this.recipient), died.promise])) !== 'died') return;
    this.#rounds = this.#open();
    for (const door of this.doors) if (door.behaviour.startsWith('crash')) door.behaviour = 'take';
  }

  /** Its hook tells of a turn with a hint that a door took. */
  async prove(which: number): Promise<void> {
    const hints = this.doors.flatMap(({ taken }) => [...taken.values()]);
    const hint = hints[which % (hints.length || 1)];
    if (!hint) return;
    for (const { message } of await this.rows()) if (this.#covers(hint, message)) this.proved.add(message);
    await this.#rounds.follow(this.recipient, {
      ...{ at: this.now, pane: 'pty_1', prompt: `so: ${markOf(hint.upTo)}` },
      ...{ stored: false, modelWasAsked: false, failure: undefined, began: false },
    });
  }

  async readInbox(): Promise<void> {
    this.read = sent;
    await store.commit({
      statements: [
        {
          sql: `INSERT INTO mailboxes (recipient, read_up_to) VALUES (?, ?)
            ON CONFLICT (recipient) DO UPDATE SET read_up_to = excluded.read_up_to`,
          values: [this.recipient, this.read],
        },
        ...closeRead(this.recipient, this.read, this.now),
      ],
    });
  }

  /** The messages a hint tells of: from behind the last one of the hint before. */
  #covers({ text, upTo }: Hint, message: number): boolean {
    const count = Number(/^(\d+) new messages/.exec(text)?.[1] ?? 1);
    return message <= upTo && message > upTo - count;
  }

  rows(): Promise<
    readonly { readonly message: number; readonly state: string; readonly attempts: number }[]
  > {
    return store.query(
      'SELECT message, state, attempts FROM deliveries WHERE recipient = ? ORDER BY message',
      [this.recipient],
    );
  }

  async check(): Promise<void> {
    const hints = this.doors.flatMap(({ taken }) => [...taken.values()]);
    for (const { message, state } of await this.rows()) {
      const told = hints.filter((hint) => this.#covers(hint, message)).length;
      expect(told, `how often ${message} was told`).toBeLessThanOrEqual(1);
      if (state === 'written') expect(told).toBe(1);
      if (state === 'seen') expect(this.proved.has(message) || message <= this.read).toBe(true);
      if (state === 'failed') expect(told).toBe(0);
    }
    const [once] = this.doors.filter(({ repeatable }) => !repeatable);
    expect(once?.given).toBe(once?.taken.size);
    await this.#checkWays();
  }

  async #checkWays(): Promise<void> {
    const steps = await store.query<{ readonly message: number; readonly state: string }>(
      'SELECT message, state FROM delivery_steps WHERE recipient = ? ORDER BY id',
      [this.recipient],
    );
    const at = new Map<number, string>();
    for (const { message, state } of steps) {
      const before = at.get(message) ?? 'queued';
      expect(ways[before], `${message} was ${before} and then ${state}`).toContain(state);
      at.set(message, state);
    }
    for (const { message, state } of await this.rows()) expect(at.get(message) ?? 'queued').toBe(state);
  }

  /** Whatever happened: in the end everything is told, or says why not. */
  async settle(): Promise<void> {
    for (const door of this.doors) door.behaviour = 'take';
    for (const ms of [0, ...schedule, 0]) {
      this.now += ms;
      await this.serve();
    }
    const left = (await this.rows()).filter(({ state }) => state === 'queued');
    expect(left).toEqual([]);
    const open = await store.query(`SELECT 1 FROM outbox WHERE kind = 'delivery' AND attempts > ?`, [
      schedule.length,
    ]);
    expect(open).toEqual([]);
  }
}

const order = fc.oneof(
  { weight: 3, arbitrary: fc.constant({ do: 'send' } as const) },
  { weight: 4, arbitrary: fc.constant({ do: 'serve' } as const) },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('behave' as const),
      door: fc.nat(1),
      as: fc.constantFrom(...behaviours),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('prove' as const), which: fc.nat(9) }) },
  { weight: 1, arbitrary: fc.constant({ do: 'read' } as const) },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('wait' as const),
      ms: fc.constantFrom(1, 31_000, 181_000, 601_000),
    }),
  },
);

it('a message is told at most once, is seen only with proof, and never stays unsaid, whatever doors and crashes do', async () => {
  await fc.assert(
    // Without its size it would make ten at most.
    fc.asyncProperty(fc.array(order, { maxLength: 30, size: 'max' }), async (orders) => {
      const world = new World();
      for (const one of orders) {
        if (one.do === 'send') await world.send();
        if (one.do === 'serve') await world.serve();
        if (one.do === 'prove') await world.prove(one.which);
        if (one.do === 'read') await world.readInbox();
        if (one.do === 'wait') world.now += one.ms;
        const door = one.do === 'behave' && world.doors[one.door];
        if (door) door.behaviour = one.as;
        await world.check();
      }
      await world.settle();
      await world.check();
    }),
    { numRuns: 50 },
  );
}, 120_000);

it('is tried again after 30 s, 3 min and 10 min, and then given up with the reason', async () => {
  const world = new World();
  await world.send();
  for (const ms of [0, ...schedule]) {
    world.now += ms;
    await world.serve();
    // Looked at before its time, nothing changes.
    world.now += 1;
    await world.serve();
    await world.check();
  }
  expect(await world.rows()).toMatchObject([{ state: 'failed', attempts: 4 }]);
});

it('of more than goes at once nothing is held up by what was tried before', async () => {
  const world = new World();
  for (let n = 0; n < 700; n++) await world.send();
  for (const ms of [0, ...schedule]) {
    world.now += ms;
    await world.serve();
    await world.serve();
  }
  expect((await world.rows()).filter(({ state }) => state !== 'failed')).toEqual([]);
}, 60_000);
