import { randomUUID } from 'node:crypto';
import type { Connection } from '../../registry/ask.ts';
import type { Caller } from '../../registry/caller.ts';

interface Session extends Connection {
  readonly caller: Caller;
}

/**
 * Which requests over HTTP are one conversation, as clients of the 2025 era say. An id proves nothing: it only tells
 * which agent a credential speaks for. Nothing is kept of a session before it has registered, so that no number of them
 * takes memory.
 */
export class McpSessions {
  /** Of this hub: the sessions of one before it are unknown. */
  readonly #life = randomUUID();
  readonly #agents = new Map<string, { readonly opener: string; readonly caller: Caller }>();

  begin(): string {
    return `${this.#life}.${randomUUID()}`;
  }

  find(id: string | string[] | undefined, opener: Caller): Session | 'unknown' | undefined {
    if (id === undefined) return undefined;
    if (typeof id !== 'string' || !id.startsWith(`${this.#life}.`) || id.length > 100) return 'unknown';
    const owner = opener.birth ?? opener.participant;
    const known = this.#agents.get(id);
    if (known && known.opener !== owner) return 'unknown';
    return {
      caller: known?.caller ?? opener,
      become: (caller) => void this.#agents.set(id, { opener: owner, caller }),
    };
  }
}
