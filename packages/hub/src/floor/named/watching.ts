import { type AgentWatch, participantOf } from '@polyphony/protocol';
import type { EventLog } from '../../events/event-log.ts';
import type { Log } from '../../platform/log.ts';
import { Turns } from '../../platform/turns.ts';
import type { Statement, Store } from '../../store/store.ts';
import type { NamedBook } from './named-book.ts';
import type { MemberRow } from './named-record.ts';

export interface WatchingOptions {
  readonly store: Store;
  readonly events: EventLog;
  readonly log: Log;
  readonly book: NamedBook;
  readonly shownAs: (project: string) => string;
  /** Writes to the agent of that name in a project, together with what must be true with it; answers whether it is there. */
  readonly tell: (
    member: MemberRow,
    notice: { readonly subject: string; readonly body: string },
    statements: readonly Statement[],
  ) => Promise<boolean>;
}

interface SeenRow {
  readonly seq: number;
  readonly slug: string;
  readonly kind: string;
  readonly sender: string;
  readonly text: string;
}

const atOnce = 200;
const mostTold = 20;
const longest = 300;

/** Tells named agents of what happens in the sessions of their projects, as far as they want to hear of it: each entry once. */
export class Watching {
  readonly #options: WatchingOptions;
  readonly #turns = new Turns();
  readonly #waiting = new Set<string>();
  readonly #stopListening: () => void;
  #work: Promise<unknown> = Promise.resolve();

  constructor(options: WatchingOptions) {
    this.#options = options;
    this.#stopListening = options.events.listen((batch) => {
      for (const { event, payload } of batch)
        if (event === 'floor:recorded') this.#look((payload as { readonly projectKey: string }).projectKey);
    });
  }

  /** Tells of what happened while no hub ran. */
  start(): void {
    for (const project of new Set(this.#options.book.members().map((row) => row.project)))
      this.#look(project);
  }

  async close(): Promise<void> {
    this.#stopListening();
    await this.#work;
  }

  #look(project: string): void {
    const { book, log } = this.#options;
    const watches = book.members().some((row) => row.project === project && book.get(row.agent)?.watch);
    if (!watches || this.#waiting.has(project)) return;
    // What comes while one look is on is seen by the next.
    this.#waiting.add(project);
    this.#work = this.#turns
      .take(project, async () => {
        this.#waiting.delete(project);
        for (const row of book.members()) if (row.project === project) await this.#tell(row);
      })
      .catch((error: unknown) => log.error('a named agent was not told of what it watches', { error }));
  }

  async #tell(member: MemberRow): Promise<void> {
    const { store, book, shownAs, tell } = this.#options;
    const { agent, project } = member;
    const watch = book.get(agent)?.watch;
    if (!watch) return;
    for (let more = true; more; ) {
      const now = book.member(agent, project);
      if (!now) return;
      const rows = await store.query<SeenRow>(
        `SELECT t.seq, s.slug, t.kind, t.sender, t.text FROM timeline t JOIN floor_sessions s ON s.id = t.session
          WHERE t.project = ? AND t.seq > ? AND t.session <> ? AND t.sender <> ?
          AND t.kind IN (${watch.kinds.map(() => '?').join(', ')}) ORDER BY t.seq LIMIT ?`,
        [project, now.watched, now.session, participantOf('agent', agent), ...watch.kinds, atOnce],
      );
      more = rows.length === atOnce;
      const last = rows.at(-1);
      if (!last) return;
      const fits = rows.filter(({ text }) => hasWord(text, watch));
      const moved = { ...now, watched: last.seq };
      if (fits.length > 0) {
        const subject = `${fits.length} of what you watch in ${shownAs(project)}`;
        const told = await tell(now, { subject, body: bodyOf(fits) }, [moveTo(moved)]);
        if (!told) return;
      }
      const latest = book.member(agent, project);
      if (latest) book.putMember({ ...latest, watched: last.seq });
    }
  }
}

const moveTo = ({ agent, project, watched }: MemberRow): Statement => ({
  sql: 'UPDATE named_members SET watched = ? WHERE agent = ? AND project = ?',
  values: [watched, agent, project],
});

function hasWord(text: string, { words = [] }: AgentWatch): boolean {
  if (words.length === 0) return true;
  const plain = text.toLowerCase();
  return words.some((word) => plain.includes(word.toLowerCase()));
}

/** The newest of it, shortly, and how to say something to it. */
function bodyOf(rows: readonly SeenRow[]): string {
  const told = rows.slice(-mostTold).map(({ slug, kind, sender, text }) => {
    const line = text.replace(/\s+/g, ' ').trim();
    const short = line.length > longest ? `${line.slice(0, longest).toWellFormed()}…` : line;
    return `- ${slug}: ${kind} of ${sender}: ${short}`;
  });
  const left = rows.length - told.length;
  return [
    ...(left > 0 ? [`${left} more came before these.`] : []),
    ...told,
    'If you have something to say to one of these sessions, advise it: floor_advise with its session.',
  ].join('\n');
}
