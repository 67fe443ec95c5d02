/** One message of JSON-RPC, as far as it is looked at here. */
export interface Message {
  readonly id?: string | number;
  readonly method?: string;
  readonly params?: { readonly name?: string; readonly requestId?: Id };
}

type Id = string | number;

/**
 * What of a conversation between an agent and the hub has to be known when the hub is another all of a sudden: how it
 * began, which answers are owed, and which calls can be made twice. No I/O.
 */
export class Conversation {
  /** What the 2025 era begins with, for the next hub has not heard it. */
  #initialize: { readonly id: Id; readonly line: Buffer } | undefined;
  #initialized: Buffer | undefined;
  readonly #owed = new Map<Id, { readonly line: Buffer; readonly message: Message }>();
  #readers: ReadonlySet<string> = new Set();
  /** The answer to an initialize that was said again goes to nobody. */
  #repeated = false;

  get isIdle(): boolean {
    return this.#owed.size === 0;
  }

  /** Whether it began as those of the 2025 era do; later ones say of every result what it is. */
  get isLegacy(): boolean {
    return this.#initialize !== undefined;
  }

  /** The agent said something; the line is kept until it is answered. */
  say(line: Buffer, message: Message): void {
    const { id, method } = message;
    if (method === 'initialize' && id !== undefined) this.#initialize = { id, line: Buffer.from(line) };
    else if (method === 'notifications/initialized') this.#initialized = Buffer.from(line);
    // Nobody waits for it any more, and no answer need come.
    else if (method === 'notifications/cancelled') this.#owed.delete(message.params?.requestId ?? '');
    if (id !== undefined && method !== undefined) this.#owed.set(id, { line, message });
  }

  /** Which tools only look, as the hub says: those may be asked twice. */
  know(readers: readonly string[]): void {
    this.#readers = new Set(readers);
  }

  /** The hub said something; answers whether it is for the agent. */
  hear({ id, method }: Pick<Message, 'id' | 'method'>): boolean {
    if (id === undefined || method !== undefined) return true;
    const wasOwed = this.#owed.delete(id);
    if (wasOwed || !this.#repeated || id !== this.#initialize?.id) return true;
    this.#repeated = false;
    return false;
  }

  /** The hub has gone: which answers will never come, since what was asked for must not happen twice. */
  lose(): readonly { readonly id: Id; readonly tool: string }[] {
    const lost = [...this.#owed].flatMap(([id, { message }]) => {
      const { name = '' } = message.params ?? {};
      return message.method !== 'tools/call' || this.#readers.has(name) ? [] : [{ id, tool: name }];
    });
    for (const { id } of lost) this.#owed.delete(id);
    return lost;
  }

  /** Another hub is there: what it has to be told first. */
  resume(): readonly Buffer[] {
    const opening = this.#initialize;
    this.#repeated = opening !== undefined && !this.#owed.has(opening.id);
    return [
      ...(opening && this.#repeated ? [opening.line] : []),
      ...(this.#initialized === undefined ? [] : [this.#initialized]),
      ...[...this.#owed.values()].map(({ line }) => line),
    ];
  }

  /** Whoever waits in vain, once nobody hopes for a hub any more; the answer to a call of a tool has a form of its own. */
  giveUp(): readonly { readonly id: Id; readonly isCall: boolean }[] {
    const owed = [...this.#owed].map(([id, { message }]) => ({
      id,
      isCall: message.method === 'tools/call',
    }));
    this.#owed.clear();
    return owed;
  }
}
