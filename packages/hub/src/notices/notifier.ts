import type { BuiltInEvents } from '@polyphony/protocol';
import type { EventLog } from '../events/event-log.ts';
import type { Log } from '../platform/log.ts';
import { tellDesktop } from './desktop-notice.ts';
import { type Notice, noticeOf } from './notice.ts';
import { tellTerminal, terminalNotice } from './terminal-notice.ts';

/** A terminal in which somebody has a part of Polyphony open. */
interface OpenTerminal {
  readonly device: string;
  /** What it is called. */
  readonly name: string;
}

export interface NotifierOptions {
  readonly events: EventLog;
  readonly log: Log;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly wanted: { readonly terminal: boolean; readonly desktop: boolean };
  readonly placeOf: (paneId: string) => Parameters<typeof noticeOf>[1] | undefined;
  readonly terminals: () => Promise<readonly OpenTerminal[]>;
}

/** Tells people of agents that need them, in whatever they have open. */
export class Notifier {
  readonly #options: NotifierOptions;
  readonly #listeners = new Set<(notice: Notice) => void>();

  constructor(options: NotifierOptions) {
    this.#options = options;
    options.events.listen((batch) => {
      for (const { event, payload } of batch)
        if (event === 'agent:state') this.#hear(payload as BuiltInEvents['agent:state']);
    });
  }

  /** Told of each notice; answers how to stop being told. */
  onNotice(listener: (notice: Notice) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  #hear(state: BuiltInEvents['agent:state']): void {
    const { placeOf, wanted, env, log } = this.#options;
    const place = placeOf(state.paneId);
    const notice = place && noticeOf(state, place);
    if (!notice) return;
    if (wanted.desktop) tellDesktop(notice, env);
    if (!wanted.terminal) return;
    for (const listener of this.#listeners) listener(notice);
    this.#tellTerminals(notice).catch((error: unknown) => log.warn('terminals could not be told', { error }));
  }

  async #tellTerminals(notice: Notice): Promise<void> {
    const { terminals, log } = this.#options;
    for (const { device, name } of await terminals()) {
      try {
        tellTerminal(device, terminalNotice(name, notice));
      } catch (error) {
        log.warn('a terminal could not be told', { device, error });
      }
    }
  }
}
