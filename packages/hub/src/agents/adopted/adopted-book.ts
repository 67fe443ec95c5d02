import { PolyError } from '@polyphony/protocol';
import type { AppendOptions, Draft, EventLog } from '../../events/event-log.ts';
import { Turns } from '../../platform/turns.ts';
import type { Store } from '../../store/store.ts';
import type { AdoptedAgent } from './adopted-agent.ts';

/** Every agent that was adopted, in memory and on the disk. Changes of one happen one after the other. */
export class AdoptedBook {
  readonly #events: EventLog;
  readonly #agents: Map<string, AdoptedAgent>;
  readonly #turns = new Turns();
  readonly #listeners = new Set<(agent: AdoptedAgent) => void>();

  private constructor(events: EventLog, agents: readonly AdoptedAgent[]) {
    this.#events = events;
    this.#agents = new Map(agents.map((agent) => [agent.id, agent]));
  }

  static async load(store: Store, events: EventLog): Promise<AdoptedBook> {
    const rows = await store.query<{ readonly record: string }>(
      'SELECT record FROM adopted_agents ORDER BY adopted_at, id',
    );
    return new AdoptedBook(
      events,
      rows.map(({ record }) => JSON.parse(record) as AdoptedAgent),
    );
  }

  list(): readonly AdoptedAgent[] {
    return [...this.#agents.values()];
  }

  running(): readonly AdoptedAgent[] {
    return this.list().filter(({ status }) => status === 'running');
  }

  find(id: string): AdoptedAgent | undefined {
    return this.#agents.get(id);
  }

  get(id: string): AdoptedAgent {
    const agent = this.#agents.get(id);
    if (agent) return agent;
    throw new PolyError('not_found', `there is no adopted agent "${id}".`, {
      hint: 'poly agent list shows every agent.',
    });
  }

  async add(agent: AdoptedAgent, at: number, drafts: readonly Draft[]): Promise<void> {
    const values = [agent.id, JSON.stringify(agent), at];
    const insert = { sql: 'INSERT INTO adopted_agents (id, record, adopted_at) VALUES (?, ?, ?)', values };
    await this.#events.append(drafts, [insert]);
    this.#set(agent);
  }

  /** Changes what is written down of one, if it is still there, in one step with the events that tell of it. */
  async change(
    id: string,
    changed: (agent: AdoptedAgent) => AdoptedAgent,
    drafts: readonly Draft[] = [],
    options: AppendOptions = {},
  ): Promise<void> {
    await this.#turns.take(id, async () => {
      const before = this.#agents.get(id);
      if (!before) return;
      const agent = changed(before);
      if (agent === before && drafts.length === 0) return;
      const values = [JSON.stringify(agent), id];
      const update = { sql: 'UPDATE adopted_agents SET record = ? WHERE id = ?', values };
      await this.#events.append(drafts, [update], options);
      this.#set(agent);
    });
  }

  async remove(id: string, drafts: readonly Draft[]): Promise<void> {
    await this.#turns.take(id, async () => {
      const forget = { sql: 'DELETE FROM adopted_agents WHERE id = ?', values: [id] };
      await this.#events.append(drafts, [forget], { onFullDisk: true });
      this.#agents.delete(id);
    });
  }

  onChange(listener: (agent: AdoptedAgent) => void): void {
    this.#listeners.add(listener);
  }

  #set(agent: AdoptedAgent): void {
    this.#agents.set(agent.id, agent);
    for (const listener of this.#listeners) listener(agent);
  }
}
