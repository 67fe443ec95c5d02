import type { Store } from '../../store/store.ts';
import { type MemberRow, type NamedRecord, parentOf } from './named-record.ts';

const placeOf = (agent: string, project: string): string => `${agent}\n${project}`;

/** Every named agent and where each is a member, in memory; whoever changes one commits the statement and then puts it here. */
export class NamedBook {
  readonly #agents = new Map<string, NamedRecord>();
  readonly #members = new Map<string, MemberRow>();

  static async load(store: Store): Promise<NamedBook> {
    const book = new NamedBook();
    const agents = await store.query<{ readonly record: string }>('SELECT record FROM named_agents');
    for (const { record } of agents) book.put(JSON.parse(record) as NamedRecord);
    for (const row of await store.query<MemberRow>('SELECT * FROM named_members')) book.putMember(row);
    return book;
  }

  get isEmpty(): boolean {
    return this.#agents.size === 0;
  }

  get(name: string): NamedRecord | undefined {
    return this.#agents.get(name);
  }

  list(): readonly NamedRecord[] {
    return [...this.#agents.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  subagentsOf(name: string): readonly string[] {
    return this.list().flatMap((one) => (parentOf(one.name) === name ? one.name : []));
  }

  /** As people see somebody: of a sub-agent the one at the top. */
  personaOf(name: string): NamedRecord | undefined {
    const record = this.#agents.get(name);
    const parent = parentOf(name);
    return (parent !== undefined && record ? this.personaOf(parent) : undefined) ?? record;
  }

  member(agent: string, project: string): MemberRow | undefined {
    return this.#members.get(placeOf(agent, project));
  }

  members(): readonly MemberRow[] {
    return [...this.#members.values()];
  }

  membersOf(agent: string): readonly MemberRow[] {
    return this.members()
      .filter((one) => one.agent === agent)
      .sort((a, b) => a.since - b.since);
  }

  put(record: NamedRecord): void {
    this.#agents.set(record.name, record);
  }

  putMember(row: MemberRow): void {
    this.#members.set(placeOf(row.agent, row.project), row);
  }

  drop(name: string): void {
    this.#agents.delete(name);
    for (const row of this.membersOf(name)) this.dropMember(row);
  }

  dropMember({ agent, project }: Pick<MemberRow, 'agent' | 'project'>): void {
    this.#members.delete(placeOf(agent, project));
  }
}
