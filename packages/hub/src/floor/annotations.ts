import {
  type Annotation,
  type FloorAnnotateParams,
  type FloorDecision,
  type FloorDecisionList,
  type FloorDecisionsParams,
  foldName,
  PolyError,
} from '@polyphony/protocol';
import { draft } from '../events/event-log.ts';
import type { Clock } from '../platform/clock.ts';
import { standing } from '../platform/lease.ts';
import type { Random } from '../platform/random.ts';
import type { Holder } from '../registry/holder.ts';
import type { Commit } from '../registry/registry.ts';
import type { Store } from '../store/store.ts';
import { leaseOf, readSeat } from './seat/seat-row.ts';
import { isoTime, type SessionRow } from './session-row.ts';
import { type EntryRow, entriesOf } from './timeline/entry-row.ts';
import type { Timeline } from './timeline/timeline.ts';

export interface AnnotationsOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly random: Random;
  readonly timeline: Timeline;
  readonly redact: (text: string) => string;
  readonly shownAs: (project: string) => string;
}

interface AnnotationRow {
  readonly seq: number;
  readonly id: string;
  readonly session: string;
  readonly project: string;
  readonly entry: string | null;
  readonly kind: Annotation['kind'];
  readonly value: string | null;
  readonly created_by: string;
  readonly created_at: number;
}

/** Stars, tags and decisions that people and agents put on sessions and on what happened there. */
export class Annotations {
  readonly #options: AnnotationsOptions;

  constructor(options: AnnotationsOptions) {
    this.#options = options;
  }

  async add(
    asker: Holder,
    session: SessionRow,
    { entry, kind, value }: FloorAnnotateParams,
    commit: Commit,
  ): Promise<Annotation> {
    const { clock, random, timeline } = this.#options;
    const about = entry === undefined ? undefined : await timeline.find(entry);
    if (about && about.session !== session.id)
      throw new PolyError('not_found', `the entry "${entry}" is in another session than "${session.slug}".`, {
        hint: 'Name the session it is in.',
      });
    const row: AnnotationRow = {
      ...{ seq: 0, id: `ann_${random.hex(8)}`, session: session.id, project: session.project },
      ...{ entry: about?.id ?? null, kind, value: this.#valueOf(kind, value, about) },
      ...{ created_by: asker.participant, created_at: clock.now() },
    };
    const result = annotationOf(row);
    await commit({
      statements: [
        {
          sql: `INSERT INTO annotations (id, session, project, entry, kind, value, created_by, created_at)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
          values: [
            ...[row.id, row.session, row.project, row.entry, row.kind, row.value],
            ...[row.created_by, row.created_at],
          ],
        },
      ],
      drafts: [
        draft(asker.source, 'floor:annotated', {
          ...{ sessionId: session.id, projectKey: session.project, annotationId: row.id, kind },
          ...(row.entry !== null && { entryId: row.entry }),
        }),
      ],
      result,
    });
    return result;
  }

  /** For who put it there, the driver of the session, and the user. */
  async remove(asker: Holder, id: string, commit: Commit): Promise<{ readonly annotation_id: string }> {
    const { store } = this.#options;
    const [row] = await store.query<AnnotationRow>('SELECT * FROM annotations WHERE id = ?', [id]);
    if (!row)
      throw new PolyError('not_found', `there is no annotation ${id}.`, {
        hint: 'poly floor annotations SESSION shows them.',
      });
    if (!asker.isUser && row.created_by !== asker.participant) {
      const seat = await readSeat(store, row.session);
      if (standing(leaseOf(seat), asker.keys) !== 'holds')
        throw new PolyError(
          'forbidden',
          `${row.created_by} put it there, and ${asker.participant} does not drive the session.`,
          {
            hint: `Ask ${row.created_by}, whoever drives, or the user.`,
          },
        );
    }
    const result = { annotation_id: id };
    await commit({
      statements: [{ sql: 'DELETE FROM annotations WHERE id = ?', values: [id] }],
      drafts: [
        draft(asker.source, 'floor:unannotated', {
          ...{ sessionId: row.session, projectKey: row.project, annotationId: id, kind: row.kind },
          ...(row.entry !== null && { entryId: row.entry }),
        }),
      ],
      result,
    });
    return result;
  }

  async list({ id }: SessionRow): Promise<readonly Annotation[]> {
    const rows = await this.#options.store.query<AnnotationRow>(
      'SELECT * FROM annotations WHERE session = ? ORDER BY seq LIMIT 1000',
      [id],
    );
    return rows.map(annotationOf);
  }

  /** The newest first; of archived projects only where they are named. */
  async decisions(
    project: string | undefined,
    { before, limit = 50 }: Pick<FloorDecisionsParams, 'before' | 'limit'>,
  ): Promise<FloorDecisionList> {
    const { store, shownAs } = this.#options;
    const rows = await store.query<AnnotationRow & { readonly slug: string }>(
      `SELECT annotations.*, slug FROM annotations JOIN floor_sessions ON floor_sessions.id = session
        WHERE kind = 'decision' AND ${project === undefined ? openProjects : 'annotations.project = ?'}
        ${before === undefined ? '' : 'AND seq < (SELECT seq FROM annotations earlier WHERE earlier.id = ?)'}
        ORDER BY seq DESC LIMIT ?`,
      [...(project === undefined ? [] : [project]), ...(before === undefined ? [] : [before]), limit + 1],
    );
    const shown = rows.slice(0, limit);
    const about = shown.flatMap(({ entry }) => entry ?? []);
    const marks = about.map(() => '?').join(', ');
    const entries = await entriesOf(
      store,
      about.length === 0
        ? []
        : await store.query<EntryRow>(`SELECT * FROM timeline WHERE id IN (${marks})`, about),
    );
    const decisions = shown.map((row): FloorDecision => {
      const entry = entries.find(({ entry_id }) => entry_id === row.entry);
      return { ...annotationOf(row), project: shownAs(row.project), slug: row.slug, ...(entry && { entry }) };
    });
    return { decisions, has_more: rows.length > limit };
  }

  #valueOf(kind: Annotation['kind'], value: string | undefined, about: EntryRow | undefined): string | null {
    if (kind === 'star') return null;
    const text = value === undefined ? undefined : this.#options.redact(value).toWellFormed();
    if (kind === 'tag') {
      if (text !== undefined && tagPattern.test(text.normalize('NFC'))) return foldName(text);
      throw new PolyError(
        'invalid_arguments',
        'a tag is a word: letters, digits, ".", "_" or "-", at most 64.',
        {
          hint: 'Say which with value.',
        },
      );
    }
    if (text !== undefined) return text.replaceAll('\0', '␀');
    if (about) return null;
    throw new PolyError('invalid_arguments', 'a decision on a whole session needs to say what was decided.', {
      hint: 'Say it with value, or mark the entry where it was decided.',
    });
  }
}

const tagPattern = /^[\p{L}\p{N}_][\p{L}\p{M}\p{N}._-]{0,63}$/u;
const openProjects = `NOT EXISTS (SELECT 1 FROM projects WHERE projects.key = annotations.project
  AND projects.archived_at IS NOT NULL)`;

function annotationOf(row: AnnotationRow): Annotation {
  return {
    ...{ annotation_id: row.id, session_id: row.session, kind: row.kind },
    ...(row.entry !== null && { entry_id: row.entry }),
    ...(row.value !== null && { value: row.value }),
    ...{ by: row.created_by, at: isoTime(row.created_at) },
  };
}
