import { type FSWatcher, watch } from 'node:fs';
import { basename } from 'node:path';
import type { Participant } from '@polyphony/protocol';
import { type Draft, draft, type EventLog } from '../events/event-log.ts';
import type { Clock } from '../platform/clock.ts';
import type { Log } from '../platform/log.ts';
import { Turns } from '../platform/turns.ts';
import { isConflict } from '../store/errors.ts';
import type { Statement, Store } from '../store/store.ts';
import type { StateRule } from './adapters/adapter.ts';
import { insertCapture } from './capture-row.ts';
import { type Entry, type Journal, Unreadable } from './journal.ts';
import type { Normalised } from './normalise.ts';
import { insertTwin, type Sighting, twinsAmong } from './twins.ts';
import type { Understood } from './understand.ts';
import { understandAll } from './understanding.ts';

/** An event that is in the record. */
export interface Capture {
  readonly id: string;
  readonly agent: string;
  /** The pane, where its credential proved it; or the adopted agent, by its process or its conversation. */
  readonly pane: string | null;
  readonly tmux: string;
  readonly parent: number;
  /** Whether the agent ran as a tool of another one, which has the pane. */
  readonly asTool: boolean;
  readonly occurredAt: number;
  readonly normalised: Normalised;
  readonly state: StateRule | null;
}

interface Alongside {
  readonly statements: readonly Statement[];
  readonly drafts: readonly Draft[];
}

export interface IntakeOptions {
  readonly journal: Journal;
  readonly store: Store;
  readonly events: EventLog;
  readonly clock: Clock;
  readonly log: Log;
  readonly hub: Participant;
  /** The pane a credential was given to, also when it has ended since. */
  readonly paneOf: (token: string) => string | undefined;
  /** The agent in no pane of ours whose hook this was. */
  readonly adoptedOf: (
    origin: Pick<Entry, 'agent' | 'tmux' | 'parent'> & { readonly session: string | null },
  ) => string | undefined;
  /**
   * What else is true once these are in the record, committed with them; asked again where something it depends on
   * changes before that.
   */
  readonly alongside?: (captures: readonly Capture[], tries: number) => Promise<Alongside>;
  /** Of these, what is in the record already by what the agent itself had kept: as which capture. */
  readonly retold?: (
    captures: readonly (Capture & { readonly origin: string })[],
  ) => Promise<ReadonlyMap<string, string>>;
  /** Told of each event once it is in the record, in order. */
  readonly onTaken: (capture: Capture) => void;
  /** How often it looks although nothing was told. */
  readonly lookEveryMs?: number;
  readonly understand?: typeof understandAll;
}

/** So many are read and written together; the hub does other things in between. */
const atOnce = 128;
const bytesAtOnce = 16 * 1024 * 1024;

/** Takes what capture hooks left in the journal into the record: each event once, in order, and then forgets the file. */
export class Intake {
  readonly #options: IntakeOptions;
  readonly #timer: NodeJS.Timeout;
  readonly #watchers = new Map<string, FSWatcher>();
  readonly #turns = new Turns();
  #working: Promise<void> | undefined;
  #again = false;
  #closed = false;
  #taken = 0;
  #gaps = 0;
  #problem: string | undefined;

  constructor(options: IntakeOptions) {
    this.#options = options;
    this.#watch();
    this.#timer = setInterval(() => this.#look(), options.lookEveryMs ?? 5_000);
    this.#look();
  }

  get gauges(): Readonly<Record<string, number>> {
    const { journal } = this.#options;
    const counted = { captured: this.#taken, captureGaps: this.#gaps };
    try {
      return { ...counted, journalWaiting: journal.count, journalDead: journal.buried.length };
    } catch {
      return counted; // The next look at the journal makes it anew, or says what the problem is.
    }
  }

  /** Why nothing can be taken in, as long as that is so. */
  get problem(): string | undefined {
    return this.#problem;
  }

  /** Does something while nothing is taken in; what waits is in the record by then. */
  async alone<T>(work: () => Promise<T>): Promise<T> {
    this.#look();
    await this.#working;
    return this.#turns.take('record', work);
  }

  async close(): Promise<void> {
    this.#closed = true;
    clearInterval(this.#timer);
    for (const watcher of this.#watchers.values()) watcher.close();
    await this.#working;
  }

  /** Where nobody can be told of changes, looking every few seconds has to do. */
  #watch(): void {
    const { journal, log } = this.#options;
    for (const folder of journal.watched.filter((one) => !this.#watchers.has(one))) {
      try {
        const watcher = watch(folder, (_, name) => this.#hear(name));
        watcher.on('error', (error) => log.warn('the journal is no longer watched', { error }));
        this.#watchers.set(folder, watcher);
        // Something may have come before anybody watched.
        this.#again = true;
      } catch (error) {
        log.warn('the journal cannot be watched', { error });
      }
    }
  }

  /** A folder's own name says that it was deleted, moved or made: whatever is there now is another, and is watched anew. */
  #hear(name: string | null): void {
    const replaced = this.#options.journal.watched.filter((folder) => basename(folder) === name);
    for (const folder of replaced) {
      this.#watchers.get(folder)?.close();
      this.#watchers.delete(folder);
    }
    this.#look();
  }

  #look(): void {
    this.#again = true;
    this.#working ??= this.#takeAll()
      .then(
        () => {
          this.#problem = undefined;
        },
        (error: unknown) => {
          this.#problem = error instanceof Error ? error.message : String(error);
          this.#options.log.warn('the journal could not be taken in', { error });
        },
      )
      .finally(() => (this.#working = undefined));
  }

  async #takeAll(): Promise<void> {
    const { journal, clock } = this.#options;
    while (this.#again && !this.#closed) {
      this.#again = false;
      journal.prepare();
      this.#watch();
      if (journal.takeMissed()) await this.#noteMissed();
      journal.takeAbandoned(clock.now());
      // While one lot is written the next is read.
      let writing = Promise.resolve();
      try {
        for (const lot of this.#lots(await journal.waiting())) {
          const events = await this.#understand(lot.entries);
          await writing;
          if (this.#closed) return;
          writing = this.#turns.take('record', () => this.#take(lot.names, events));
          // It is awaited below; until then nobody else hears of its failure.
          writing.catch(() => undefined);
        }
      } finally {
        await writing;
      }
    }
  }

  *#lots(waiting: readonly string[]): Generator<{ names: readonly string[]; entries: readonly Entry[] }> {
    let [names, entries, bytes]: [string[], Entry[], number] = [[], [], 0];
    for (const name of waiting) {
      names.push(name);
      for (const entry of this.#read(name)) {
        entries.push(entry);
        bytes += entry.payload.length;
      }
      if (names.length < atOnce && bytes < bytesAtOnce) continue;
      yield { names, entries };
      [names, entries, bytes] = [[], [], 0];
    }
    if (names.length > 0) yield { names, entries };
  }

  /** What cannot be read although it is whole is buried; where it is among others, each is tried alone. */
  async #understand(entries: readonly Entry[]): Promise<readonly Arrived[]> {
    try {
      const understood = await (this.#options.understand ?? understandAll)(entries);
      return entries.map((entry, index) => ({ ...entry, ...(understood[index] as Understood) }));
    } catch (error) {
      if (!(error instanceof Unreadable)) throw error;
      const [only, ...others] = entries;
      if (only && others.length === 0) {
        this.#bury(only.cut ? `${only.id}.cut` : only.id, error);
        return [];
      }
      const alone: Arrived[] = [];
      for (const entry of entries) alone.push(...(await this.#understand([entry])));
      return alone;
    }
  }

  /** All in one step, so that they stand in the record in their order or not at all. */
  async #take(names: readonly string[], entries: readonly Arrived[]): Promise<void> {
    const { journal, onTaken } = this.#options;
    // What is there already was taken in before the hub was killed.
    const known = await this.#known(entries);
    // A hook that was taken for dead may have ended just then: what it left whole counts.
    const whole = new Set(entries.flatMap(({ id, cut }) => (cut ? [] : [id])));
    const fresh = entries
      .filter(({ id, cut }) => !known.has(id) && !(cut && whole.has(id)))
      .map((entry) => this.#describe(entry));
    const twins = await twinsAmong(
      this.#options.store,
      fresh.flatMap(({ sighting }) => sighting ?? []),
    );
    const first = fresh.filter(({ capture }) => !twins.has(capture.id));
    const retold = await this.#retold(first);
    const taken = first.filter(({ capture }) => !retold.has(capture.id));
    const statements = fresh.map(({ capture: { id }, sighting, insert }) => {
      const one = twins.get(id) ?? id;
      const of = retold.get(one) ?? twins.get(id);
      return sighting && of !== undefined ? insertTwin(sighting, of) : insert;
    });
    if (fresh.length > 0) await this.#commit(taken, statements);
    for (const name of names) journal.remove(name);
    this.#taken += taken.length;
    // What is told late is still a word of the agent.
    for (const { capture } of first) {
      if (capture.normalised.kind === 'gap') this.#gaps += 1;
      onTaken(capture);
    }
  }

  async #retold(first: readonly Described[]): Promise<ReadonlyMap<string, string>> {
    const whole = first.flatMap(({ capture, sighting }) =>
      sighting ? [{ ...capture, origin: sighting.origin }] : [],
    );
    return (await this.#options.retold?.(whole)) ?? new Map();
  }

  async #commit(taken: readonly Described[], statements: readonly Statement[]): Promise<void> {
    const { events, alongside = async () => ({ statements: [], drafts: [] }) } = this.#options;
    const captures = taken.map(({ capture }) => capture);
    for (let tries = 0; ; tries++) {
      const also = await alongside(captures, tries);
      const drafts = [...taken.map(({ told }) => told), ...also.drafts];
      try {
        await events.append(drafts, [...statements, ...also.statements]);
        return;
      } catch (error) {
        if (!isConflict(error)) throw error;
      }
    }
  }

  #read(name: string): readonly Entry[] {
    const { journal } = this.#options;
    try {
      const entry = journal.read(name);
      return entry ? [entry] : [];
    } catch (error) {
      if (!(error instanceof Unreadable)) throw error;
      this.#bury(name, error);
      return [];
    }
  }

  #bury(name: string, { message: why }: Unreadable): void {
    const { journal, log } = this.#options;
    log.warn('an event of an agent cannot be taken in', { name, why });
    journal.bury(name);
  }

  async #known(entries: readonly Arrived[]): Promise<ReadonlySet<string>> {
    if (entries.length === 0) return new Set();
    const ids = entries.map(({ id }) => id);
    const places = ids.map(() => '?').join(', ');
    const sql = `SELECT id FROM captures WHERE id IN (${places})
      UNION ALL SELECT id FROM capture_twins WHERE id IN (${places})`;
    const rows = await this.#options.store.query<{ readonly id: string }>(sql, [...ids, ...ids]);
    return new Set(rows.map(({ id }) => id));
  }

  #describe(entry: Arrived): Described {
    const { clock, hub, paneOf, adoptedOf } = this.#options;
    const { digest, normalised, state } = entry;
    const { kind, event, session } = normalised;
    const { id, agent, tmux, parent, origin, asTool, occurredAt } = entry;
    const proved = entry.token === '' ? undefined : paneOf(entry.token);
    const pane = proved ?? adoptedOf({ agent, tmux, parent, session }) ?? null;
    const from = { participant: hub, ...(pane !== null && { pane }) };
    const at = { ...(pane !== null && { paneId: pane }), sessionId: session };
    return {
      capture: { id, agent, pane, tmux, parent, asTool, occurredAt, normalised, state },
      ...(digest && { sighting: { id, origin, pane, digest, occurredAt } }),
      told: draft(from, 'agent:captured', { captureId: id, agent, event, kind, ...at }),
      insert: insertCapture({ ...entry, pane, receivedAt: clock.now() }, entry),
    };
  }

  async #noteMissed(): Promise<void> {
    const { events, hub } = this.#options;
    this.#gaps += 1;
    const told = { captureId: null, agent: '', event: '', kind: 'gap', sessionId: null } as const;
    await events.append([draft({ participant: hub }, 'agent:captured', told)]);
  }
}

/** An event as a hook left it, and what it says. */
type Arrived = Entry & Understood;

/** An event, and what is to be written of it. */
interface Described {
  readonly capture: Capture;
  /** Of a whole one: by it the same event is known when it is told again. */
  readonly sighting?: Sighting;
  readonly told: Draft;
  readonly insert: Statement;
}
