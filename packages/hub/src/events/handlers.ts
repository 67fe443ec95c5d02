import { inspect } from 'node:util';
import { type BuiltInEvents, EventFilter, type PolyEvent } from '@polyphony/protocol';

/** An event on its way to a handler; what only reads is never logged, so that its events have no `seq`. */
export type Told = Omit<PolyEvent, 'seq'> & { readonly seq?: number };

/** What a handler of `action:start` may answer to cancel the action. */
export interface Veto {
  readonly cancel: true;
  readonly reason?: string;
}

export type Handler = (event: Told, signal: AbortSignal) => unknown;

export interface HandlersOptions {
  readonly timeoutMs: number;
  /** Told about a handler that threw or outlived its time. */
  readonly onFailure: (failure: BuiltInEvents['handler:error']) => void;
}

interface Listener {
  readonly source: string;
  readonly filter: EventFilter;
  readonly handler: Handler;
  /** Its last event: each handler sees events one after the other, in order. */
  tail: Promise<unknown>;
  waiting: number;
}

/** A handler this far behind is told nothing more until it has caught up. */
const longestQueue = 10_000;

/** Who listens inside the hub. One that throws or hangs is reported, and harms nobody else. */
export class Handlers {
  readonly #options: HandlersOptions;
  readonly #listeners = new Set<Listener>();

  constructor(options: HandlersOptions) {
    this.#options = options;
  }

  on(source: string, include: string, handler: Handler): () => void {
    const listener: Listener = {
      source,
      filter: new EventFilter(include),
      handler,
      tail: Promise.resolve(),
      waiting: 0,
    };
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Forgets every handler of an extension. */
  remove(source: string): void {
    for (const listener of this.#listeners) if (listener.source === source) this.#listeners.delete(listener);
  }

  tell(event: Told): void {
    for (const listener of this.#listeners) {
      if (!listener.filter.matches(event.event)) continue;
      if (listener.waiting >= longestQueue) {
        if (listener.waiting++ === longestQueue)
          this.#fail(listener, event, `is ${longestQueue} events behind`);
        continue;
      }
      listener.waiting++;
      listener.tail = listener.tail.then(async () => {
        await this.#call(listener, event);
        listener.waiting = Math.min(listener.waiting, longestQueue) - 1;
      });
    }
  }

  /** Asks every handler of `action:start`; answers who cancelled first, if anybody did. */
  async ask(event: Told): Promise<{ readonly source: string; readonly reason?: string } | undefined> {
    const asked = [...this.#listeners].filter(({ filter }) => filter.matches(event.event));
    if (asked.length === 0) return undefined;
    const answers = await Promise.all(
      asked.map(async (listener) => ({ listener, answer: await this.#call(listener, event) })),
    );
    const veto = answers.find(({ answer }) => isVeto(answer));
    if (!veto) return undefined;
    const { reason } = veto.answer as Veto;
    return { source: veto.listener.source, ...(typeof reason === 'string' && { reason }) };
  }

  async #call(listener: Listener, event: Told): Promise<unknown> {
    const { timeoutMs } = this.#options;
    const abort = new AbortController();
    const late = Promise.withResolvers<never>();
    const timer = setTimeout(() => late.reject(new Error(`did not end within ${timeoutMs} ms`)), timeoutMs);
    try {
      return await Promise.race([Promise.resolve(listener.handler(event, abort.signal)), late.promise]);
    } catch (error) {
      this.#fail(listener, event, error instanceof Error ? error.message : inspect(error));
      return undefined;
    } finally {
      clearTimeout(timer);
      abort.abort();
    }
  }

  #fail({ source }: Listener, { event }: Told, error: string): void {
    // A failing handler of failures would report itself for ever.
    if (event !== 'handler:error') this.#options.onFailure({ source, event, error });
  }
}

function isVeto(answer: unknown): answer is Veto {
  return typeof answer === 'object' && answer !== null && 'cancel' in answer && answer.cancel === true;
}
