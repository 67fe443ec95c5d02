import { foldName } from '@polyphony/protocol';
import type { Statement, Store } from '../store/store.ts';
import type { AgentRecord } from './agent-record.ts';

/** Every agent that ever registered, in memory; whoever changes one commits the statement and then puts it here. */
export class AgentBook {
  readonly #records = new Map<string, AgentRecord>();
  readonly #names = new Map<string, string>();
  readonly #panes = new Map<string, string>();
  /** Of those who read and write without anything to write down about it. */
  readonly #seen = new Map<string, number>();

  static async load(store: Store): Promise<AgentBook> {
    const book = new AgentBook();
    const rows = await store.query<{ readonly record: string }>('SELECT record FROM mail_agents');
    for (const { record } of rows) book.put(JSON.parse(record) as AgentRecord);
    return book;
  }

  get(id: string): AgentRecord | undefined {
    return this.#records.get(id);
  }

  find(project: string, name: string): AgentRecord | undefined {
    const id = this.#names.get(placeOf(foldName(project), foldName(name)));
    return id === undefined ? undefined : this.#records.get(id);
  }

  /** Who had this name before it was called otherwise. */
  renamed(project: string, name: string): AgentRecord | undefined {
    return this.members(project).find(({ formerNames }) => formerNames?.includes(foldName(name)));
  }

  /** The one that registered from a pane, as its credential proves. */
  inPane(birth: string | undefined): AgentRecord | undefined {
    const id = birth === undefined ? undefined : this.#panes.get(birth);
    return id === undefined ? undefined : this.#records.get(id);
  }

  list(): readonly AgentRecord[] {
    return [...this.#records.values()];
  }

  /** Those who can be written to, of one project or of all, in order. */
  members(project?: string): readonly AgentRecord[] {
    const key = project === undefined ? undefined : foldName(project);
    return this.list()
      .filter(({ projectKey, leftAt }) => leftAt === undefined && (key === undefined || projectKey === key))
      .sort(inOrder);
  }

  put(record: AgentRecord): void {
    const before = this.#records.get(record.id);
    if (before?.pane && this.#panes.get(before.pane.birth) === record.id)
      this.#panes.delete(before.pane.birth);
    if (before) this.#names.delete(placeOf(before.projectKey, before.name));
    this.#records.set(record.id, record);
    this.#names.set(placeOf(record.projectKey, record.name), record.id);
    if (record.pane && record.leftAt === undefined) this.#panes.set(record.pane.birth, record.id);
  }

  saw(id: string, at: number): void {
    this.#seen.set(id, at);
  }

  seenAt({ id, seenAt }: AgentRecord): number {
    return Math.max(seenAt, this.#seen.get(id) ?? 0);
  }
}

/** By project, then by name. */
export function inOrder(a: AgentRecord, b: AgentRecord): number {
  const [one, other] = [placeOf(a.projectKey, a.name), placeOf(b.projectKey, b.name)];
  return one === other ? 0 : one < other ? -1 : 1;
}

const placeOf = (projectKey: string, name: string): string => `${projectKey}\n${name}`;

export function keepAgent(record: AgentRecord): Statement {
  const { id, projectKey, name } = record;
  return {
    sql: `INSERT INTO mail_agents (id, project_key, name, record) VALUES (?, ?, ?, ?)
      ON CONFLICT (id) DO UPDATE SET name = excluded.name, record = excluded.record`,
    values: [id, projectKey, name, JSON.stringify(record)],
  };
}
