import {
  type BuiltInEvents,
  PolyError,
  type PolyEvent,
  type TimelineEntry,
  type TimelineKind,
  type TimelinePage,
} from '@polyphony/protocol';
import type { HubState } from '../page/hub-state.ts';

/** What is read of a session: a part of its timeline without a gap. */
export interface Story {
  /** As they happened, the oldest first. */
  readonly entries: readonly TimelineEntry[];
  /** There are earlier ones. */
  readonly before?: string | undefined;
  /** There are later ones: it does not end with what happens now. */
  readonly after?: string | undefined;
}

export interface SessionStoryOptions {
  readonly hub: HubState;
  readonly session: string;
  /** All but what nobody reads when left out. */
  readonly kinds?: readonly TimelineKind[] | undefined;
  readonly onChange: (story: Story) => void;
}

const pageSize = 80;
/** To make up for what was missed while the hub was away. */
const largestPage = 500;
const mostUnended = 20;

/** Keeps a part of a timeline true while it grows. */
export class SessionStory {
  readonly #options: SessionStoryOptions;
  readonly #stop: () => void;
  #story: Story | undefined;
  #working: Promise<void> = Promise.resolve();
  #stale = false;
  #closed = false;

  constructor(options: SessionStoryOptions) {
    this.#options = options;
    this.#stop = options.hub.onNews(['floor'], (event) => this.#hear(event));
  }

  close(): void {
    this.#closed = true;
    this.#stop();
  }

  /** Shows what happened last, and follows it. */
  newest(): void {
    this.#do(() => this.#newest(this.#story?.after === undefined ? this.#story : undefined));
  }

  earlier(): void {
    this.#do(async (story) => {
      if (story?.before === undefined) return undefined;
      const { entries, next_before } = await this.#page({ before: story.before });
      return { ...story, entries: [...entries, ...story.entries], before: next_before };
    });
  }

  later(): void {
    this.#do(async (story) => {
      if (story?.after === undefined) return undefined;
      const { entries, next_after } = await this.#page({ after: story.after });
      const isEnd = entries.length < pageSize;
      return {
        ...{ entries: [...story.entries, ...entries], before: story.before },
        ...(!isEnd && { after: next_after }),
      };
    });
  }

  /** Shows an entry with what happened around it. */
  around(id: string): void {
    this.#do(async (story) => {
      if (story?.entries.some(({ entry_id }) => entry_id === id)) return { ...story };
      const { at, seq } = await this.#options.hub.client.call('floor:entry', { entry: id });
      const time = Date.parse(at);
      const [earlier, later] = await Promise.all([
        this.#page({ before: `${time}.${seq + 1}` }),
        this.#page({ after: `${time}.${seq}` }),
      ]);
      return {
        ...{ entries: [...earlier.entries, ...later.entries], before: earlier.next_before },
        ...(later.entries.length >= pageSize && { after: later.next_after }),
      };
    });
  }

  #hear(event: PolyEvent | undefined): void {
    const { sessionId, entryId } = (event?.payload ?? {}) as Partial<BuiltInEvents['floor:annotated']>;
    if (event && sessionId !== this.#options.session) return;
    if (entryId !== undefined) this.#do((story) => story && this.#again(story, [entryId]));
    else this.#refresh();
  }

  /** Many events at once become one more reading. */
  #refresh(): void {
    if (this.#stale) return;
    this.#stale = true;
    this.#do(async (story) => {
      this.#stale = false;
      return story?.after === undefined ? this.#newest(story) : undefined;
    });
  }

  /** The newest page, and all between it and what is known. */
  async #newest(known: Story | undefined): Promise<Story> {
    const last = known?.entries.at(-1);
    let { entries, next_before: before } = await this.#page({});
    while (last && before !== undefined && entries[0] && isEarlier(last, entries[0])) {
      const older = await this.#page({ before, limit: largestPage });
      entries = [...older.entries, ...entries];
      before = older.next_before;
    }
    const [first] = entries;
    const kept = first ? (known?.entries.filter((entry) => isEarlier(entry, first)) ?? []) : [];
    if (!known || kept.length === 0) return { entries, before };
    const unended = kept.filter(({ kind, result }) => kind === 'tool' && !result).slice(-mostUnended);
    const story = { entries: [...kept, ...entries], before: known.before };
    return this.#again(
      story,
      unended.map(({ entry_id }) => entry_id),
    );
  }

  /** The same with some entries read anew. */
  async #again(story: Story, ids: readonly string[]): Promise<Story> {
    const shown = ids.filter((id) => story.entries.some(({ entry_id }) => entry_id === id));
    const read = await Promise.all(
      shown.map((entry) => this.#options.hub.client.call('floor:entry', { entry })),
    );
    const fresh = new Map(read.map((entry) => [entry.entry_id, entry]));
    return { ...story, entries: story.entries.map((entry) => fresh.get(entry.entry_id) ?? entry) };
  }

  #page(params: {
    readonly before?: string;
    readonly after?: string;
    readonly limit?: number;
  }): Promise<TimelinePage> {
    const { hub, session, kinds } = this.#options;
    return hub.client.call('floor:timeline', {
      session,
      limit: pageSize,
      ...(kinds && { kinds }),
      ...params,
    });
  }

  /** One after another: what each shows depends on what was there before. */
  #do(work: (story: Story | undefined) => Promise<Story | undefined> | undefined): void {
    this.#working = this.#working.then(async () => {
      if (this.#closed) return;
      try {
        const story = await work(this.#story);
        if (!story || this.#closed) return;
        this.#story = story;
        this.#options.onChange(story);
      } catch (error) {
        // Where the hub is away, what was read last stays until it is back.
        if (!this.#closed && error instanceof PolyError) this.#options.hub.report(error.info);
      }
    });
  }
}

function isEarlier(one: TimelineEntry, other: TimelineEntry): boolean {
  return one.at === other.at ? one.seq < other.seq : one.at < other.at;
}
