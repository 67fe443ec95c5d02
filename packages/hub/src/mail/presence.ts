import type { Liveness } from '@polyphony/protocol';
import type { Channel, Connection } from '../registry/ask.ts';
import type { AgentRecord } from './agent-record.ts';

/** Whether a pane's program runs; the panes are not this noun's to know. */
export type PaneLiveness = (pane: { readonly id: string; readonly birth: string }) => Liveness;

interface Speaker {
  /** What the connection speaks for. */
  readonly generation: number;
  readonly channel?: Channel | undefined;
}

/** Which connections speak for an agent now. One agent may have several. */
export class Presence {
  readonly #paneLiveness: PaneLiveness;
  /** An empty set once all have ended. */
  readonly #connections = new Map<string, Set<Speaker>>();
  readonly #onChannel: (agent: string) => void;

  /** `onChannel` hears of each agent that can be told something unasked from now on. */
  constructor(paneLiveness: PaneLiveness, onChannel: (agent: string) => void = () => undefined) {
    this.#paneLiveness = paneLiveness;
    this.#onChannel = onChannel;
  }

  /** A connection speaks for an agent until it ends; one whose end cannot be known counts for nothing. */
  join({ id, generation }: AgentRecord, connection: Omit<Connection, 'become'> | undefined): void {
    const { ended, channel } = connection ?? {};
    if (!ended || ended.aborted) return;
    const held = this.#connections.get(id) ?? new Set();
    const one = { generation, channel };
    held.add(one);
    this.#connections.set(id, held);
    ended.addEventListener('abort', () => held.delete(one), { once: true });
    channel?.whenOpen(() => this.#onChannel(id));
  }

  livenessOf(record: AgentRecord): Liveness {
    const { pane, leftAt } = record;
    if (leftAt !== undefined) return 'gone';
    if (this.#speakersOf(record).length > 0) return 'alive';
    if (pane) return this.#paneLiveness(pane);
    return this.#connections.has(record.id) ? 'gone' : 'unknown';
  }

  /** The newest open channel to an agent. */
  channelOf(record: AgentRecord): Channel | undefined {
    return this.#speakersOf(record).findLast(({ channel }) => channel?.isOpen)?.channel;
  }

  #speakersOf({ id, generation }: AgentRecord): readonly Speaker[] {
    return [...(this.#connections.get(id) ?? [])].filter((one) => one.generation === generation);
  }
}
