import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createEventLog } from '../src/events/event-log.ts';
import { createFloor, type Floor } from '../src/floor/floor.ts';
import { ProjectBook } from '../src/floor/project-book.ts';
import { systemClock } from '../src/platform/clock.ts';
import { type Random, systemRandom } from '../src/platform/random.ts';
import type { Holder } from '../src/registry/holder.ts';
import type { Step } from '../src/registry/registry.ts';
import { openSqliteStore } from '../src/store/sqlite.ts';
import type { Committed, Store } from '../src/store/store.ts';
import { readHandedOver } from '../src/wiring/floor-words.ts';

/** A floor with a real record and no hub around it. */
export class FloorGround implements AsyncDisposable {
  readonly home: string;
  readonly store: Store;
  readonly floor: Floor;
  readonly commit: (step: Step) => Promise<Committed>;

  private constructor(home: string, store: Store, floor: Floor, commit: FloorGround['commit']) {
    this.home = home;
    this.store = store;
    this.floor = floor;
    this.commit = commit;
  }

  static async open({
    random = systemRandom,
    home,
  }: {
    readonly random?: Random;
    readonly home?: string;
  } = {}): Promise<FloorGround> {
    const folder = home ?? mkdtempSync(join(tmpdir(), 'poly-floor-'));
    if (!existsSync(folder)) mkdirSync(folder);
    const store = await openSqliteStore({ file: join(folder, 'hub.db') });
    const events = await createEventLog({ store, clock: systemClock });
    const book = await ProjectBook.load(store, systemClock);
    const floor = createFloor({
      ...{ store, events, random, book, user: 'user:ann', clock: systemClock },
      ...{ redact: (text) => text, isOurs: () => false, knownMembers: () => [] },
      sessionOf: () => undefined,
      confinedTo: () => undefined,
      readEvent: readHandedOver(systemClock),
      seatMs: 1_800_000,
      agentIn: (pane) => (pane.startsWith('none') ? undefined : { vendor: 'claude' }),
    });
    return new FloorGround(folder, store, floor, ({ statements = [], drafts = [] }) =>
      events.append(drafts, statements),
    );
  }

  /** The program of a pane. */
  pane(id: string): Holder {
    const participant = `agent:${id}` as const;
    return {
      ...{ key: id, keys: [id], participant, isUser: false, pane: id },
      source: { participant, pane: id },
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.store.close();
    rmSync(this.home, { recursive: true, force: true });
  }
}
