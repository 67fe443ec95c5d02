import { foldName } from '@polyphony/protocol';
import type { Clock } from '../platform/clock.ts';
import type { ProjectNames } from '../registry/project-names.ts';
import type { Statement, Store } from '../store/store.ts';

interface Named {
  readonly name_key: string;
  readonly project: string;
  readonly name: string;
}

/** Which project each name leads to, and what each is called now, in memory; whoever renames one commits it first. */
export class ProjectBook implements ProjectNames {
  readonly #clock: Clock;
  /** The key of a project by each folded name it has or had. */
  readonly #keys = new Map<string, string>();
  /** By key. */
  readonly #shown = new Map<string, string>();

  private constructor(clock: Clock) {
    this.#clock = clock;
  }

  static async load(store: Store, clock: Clock): Promise<ProjectBook> {
    const book = new ProjectBook(clock);
    const rows = await store.query<Named>(
      'SELECT n.name_key, n.project, p.name FROM project_names n JOIN projects p ON p.key = n.project',
    );
    for (const { name_key, project, name } of rows) book.put(project, name_key, name);
    return book;
  }

  /** The key of the project that is meant. */
  keyOf(name: string): string {
    const folded = foldName(name);
    return this.#keys.get(folded) ?? folded;
  }

  resolve(name: string): string {
    const key = this.keyOf(name);
    return key === foldName(name) ? name.normalize('NFC') : key;
  }

  shownAs(name: string): string {
    return this.#shown.get(this.keyOf(name)) ?? name;
  }

  put(key: string, name: string, shown: string): void {
    this.#keys.set(foldName(name), key);
    this.#shown.set(key, shown);
  }

  meet(name: string, by: string, now: number = this.#clock.now()): readonly Statement[] {
    const key = this.keyOf(name);
    const given = name.normalize('NFC');
    return [
      {
        sql: `INSERT INTO projects (key, name, created_by, created_at) VALUES (?, ?, ?, ?)
          ON CONFLICT (key) DO UPDATE SET deleted_at = NULL WHERE projects.deleted_at IS NOT NULL`,
        values: [key, given, by, now],
      },
      {
        sql: `INSERT INTO project_names (name_key, project, name, since) VALUES (?, ?, ?, ?)
          ON CONFLICT (name_key) DO NOTHING`,
        values: [key, key, given, now],
      },
      {
        sql: 'SELECT 1 AS same FROM project_names WHERE name_key = ? AND project = ?',
        values: [foldName(name), key],
        expect: 1,
      },
    ];
  }
}
