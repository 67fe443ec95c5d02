import type { BuiltInEvents, PolyEvent } from '@polyphony/protocol';
import type { EventLog } from '../events/event-log.ts';
import type { Log } from '../platform/log.ts';
import type { Statement, Store } from '../store/store.ts';

export interface ExitLettersOptions {
  readonly store: Store;
  readonly events: EventLog;
  readonly log: Log;
  /** The agent that is to hear of the end of a pane by mail. */
  readonly ownerOf: (paneId: string) => string | undefined;
  /** Writes to an agent, in one commit with the statements. */
  readonly tell: (
    agent: string,
    notice: { readonly subject: string; readonly body: string },
    statements: readonly Statement[],
  ) => Promise<void>;
}

type Exit = PolyEvent<BuiltInEvents['pane:exited']>;

const place = 'exit_letters';
const atOnce = 200;

const keepPlace = (seq: number): Statement => ({
  sql: 'INSERT INTO mail_facts (name, value) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value',
  values: [place, String(seq)],
});

/** Tells the agent that started a pane of its end, where it asked for that: by mail, and once whatever is killed. */
export class ExitLetters {
  readonly #options: ExitLettersOptions;
  readonly #stop: () => void;
  #working: Promise<void> = Promise.resolve();

  private constructor(options: ExitLettersOptions, missed: readonly Exit[]) {
    this.#options = options;
    for (const exit of missed) this.#take(exit);
    this.#stop = options.events.listen((events) => {
      for (const event of events) if (event.event === 'pane:exited') this.#take(event as Exit);
    });
  }

  static async open(options: ExitLettersOptions): Promise<ExitLetters> {
    const { store, events } = options;
    const [row] = await store.query<{ readonly value: string }>(
      'SELECT value FROM mail_facts WHERE name = ?',
      [place],
    );
    const { head } = events;
    const missed: Exit[] = [];
    // Where nobody has looked before there is nothing that somebody waits for.
    for (let after = row ? Number(row.value) : head; after < head; ) {
      const page = await store.events({ after, limit: atOnce, names: ['pane:exited'] });
      missed.push(
        ...page
          .filter(({ seq }) => seq <= head)
          .map(({ seq, name, payload }) => ({ seq, event: name, payload }) as Exit),
      );
      after = page.at(-1)?.seq ?? head;
    }
    if (!row || missed.length === 0) await store.commit({ statements: [keepPlace(head)], useReserve: true });
    return new ExitLetters(options, missed);
  }

  async close(): Promise<void> {
    this.#stop();
    await this.#working;
  }

  #take({ seq, payload: { paneId, notice } }: Exit): void {
    const { ownerOf, tell, log } = this.#options;
    const owner = notice === undefined ? undefined : ownerOf(paneId);
    if (owner === undefined || notice === undefined) return;
    const letter = { subject: `${paneId} has ended`, body: notice };
    this.#working = this.#working
      .then(() => tell(owner, letter, [keepPlace(seq)]))
      .catch((error: unknown) => log.error('the end of a pane could not be told by mail', { paneId, error }));
  }
}
