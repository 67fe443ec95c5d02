import type { Liveness } from '@polyphony/protocol';
import type { AgentRecord } from './agent-record.ts';

/** Whether a pane's program runs; the panes are not this noun's to know. */
export type PaneLiveness = (pane: { readonly id: string; readonly birth: string }) => Liveness;

/** Which connections speak for an agent now. One agent may have several. */
export class Presence {
  readonly #paneLiveness: PaneLiveness;
  /** With the generation each connection speaks for; an empty set once all have ended. */
  readonly #connections = new Map<string, Set<{ readonly generation: number }>>();

  constructor(paneLiveness: PaneLiveness) {
    this.#paneLiveness = paneLiveness;
  }

  /** A connection speaks for an agent until it ends; one whose end cannot be known counts for nothing. */
  join({ id, generation }: AgentRecord, ended: AbortSignal | undefined): void {
    if (!ended || ended.aborted) return;
    const held = this.#connections.get(id) ?? new Set();
    const one = { generation };
    held.add(one);
    this.#connections.set(id, held);
    ended.addEventListener('abort', () => held.delete(one), { once: true });
  }

  livenessOf(record: AgentRecord): Liveness {
    const { id, generation, pane, leftAt } = record;
    if (leftAt !== undefined) return 'gone';
    const held = this.#connections.get(id);
    if (held && [...held].some((one) => one.generation === generation)) return 'alive';
    if (pane) return this.#paneLiveness(pane);
    return held ? 'gone' : 'unknown';
  }
}
