import { randomUUID } from 'node:crypto';
import type { Connection } from '../../registry/ask.ts';
import type { Caller } from '../../registry/caller.ts';

interface Session extends Connection {
  readonly caller: Caller;
}

interface Known {
  readonly opener: string;
  readonly caller: Caller;
}

/** An age ends when so many have registered in it, and this many of the last are known. */
const registeredInAge = 500;
const agesKept = 8;

/**
 * Which requests over HTTP are one conversation, as clients of the 2025 era say. An id proves nothing: it only tells
 * which agent a credential speaks for. Nothing is kept of a session before it has registered, so that no number of them
 * takes memory. What is kept is forgotten by the age that an id names: one of an age long past is unknown, and never
 * taken for one that has not registered and may still do what its credential may.
 */
export class McpSessions {
  /** Of this hub: the sessions of one before it are unknown. */
  readonly #life = randomUUID();
  readonly #ages = new Map<number, Map<string, Known>>([[0, new Map()]]);
  #age = 0;
  #registered = 0;

  begin(): string {
    return `${this.#life}.${this.#age}.${randomUUID()}`;
  }

  find(id: string | string[] | undefined, opener: Caller): Session | 'unknown' | undefined {
    if (id === undefined) return undefined;
    if (typeof id !== 'string' || id.length > 100) return 'unknown';
    const [life, age] = id.split('.');
    const agents = life === this.#life ? this.#ages.get(Number(age)) : undefined;
    if (!agents) return 'unknown';
    const owner = opener.birth ?? opener.participant;
    const known = agents.get(id);
    if (known && known.opener !== owner) return 'unknown';
    return {
      caller: known?.caller ?? opener,
      become: (caller) => {
        if (!agents.has(id)) this.#count();
        agents.set(id, { opener: owner, caller });
      },
    };
  }

  #count(): void {
    this.#registered++;
    if (this.#registered < registeredInAge) return;
    this.#registered = 0;
    this.#age++;
    this.#ages.set(this.#age, new Map());
    this.#ages.delete(this.#age - agesKept);
  }
}
