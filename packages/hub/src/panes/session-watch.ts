import { type Participant, PolyError } from '@polyphony/protocol';
import type { Events, TmuxEventType } from '@polyphony/tmux';
import { type AppendOptions, type Draft, draft, type EventLog } from '../events/event-log.ts';
import type { Log } from '../platform/log.ts';
import { Turns } from '../platform/turns.ts';
import type { TmuxSession } from './tmux-session.ts';

export interface SessionWatchOptions {
  readonly session: TmuxSession;
  readonly events: EventLog;
  readonly log: Log;
  readonly hub: Participant;
  /** Compares our panes with tmux's; called whenever something may have changed. */
  readonly meetPanes: (up: boolean) => Promise<void>;
  /** Told which panes of tmux people have before them. */
  readonly onShown: (tmuxPanes: readonly string[]) => void;
}

/** What may mean that the session, a client of it or one of our panes has come or gone, or that somebody looks elsewhere. */
const telling: readonly TmuxEventType[] = [
  'client-session-changed',
  'client-detached',
  'sessions-changed',
  'window-close',
  'unlinked-window-close',
  'layout-change',
  'session-window-changed',
  'window-pane-changed',
];

const retryMs = 3_000;

/** Knows whether the tmux session is up and how many people look at it, and tells when that changes. */
export class SessionWatch {
  readonly #options: SessionWatchOptions;
  readonly #turns = new Turns();
  #up: boolean | undefined;
  #people = 0;
  #following: Events | undefined;
  #closed = false;
  #later: NodeJS.Timeout | undefined;

  constructor(options: SessionWatchOptions) {
    this.#options = options;
  }

  /** Looks at how things are now, and tells what is different from before; later again when tmux does not answer. */
  look(): Promise<void> {
    return this.#turns.take('', async () => {
      if (this.#closed) return;
      try {
        await this.#lookNow();
      } catch (error) {
        if (!(error instanceof PolyError && error.code === 'unavailable')) throw error;
        this.#options.log.warn('the tmux session cannot be looked at', { error });
        this.#lookLater();
      }
    });
  }

  #lookLater(): void {
    if (this.#closed) return;
    this.#later ??= setTimeout(() => {
      this.#later = undefined;
      this.look().catch((cause: unknown) =>
        this.#options.log.error('the tmux session is not watched', { error: cause }),
      );
    }, retryMs);
  }

  async #lookNow(): Promise<void> {
    const { session, hub, meetPanes, onShown } = this.#options;
    const from = { participant: hub };
    const up = await session.running();
    const shown = up ? await session.shown() : [];
    const people = shown.length;
    onShown(shown.flat());
    const arrived = Math.max(0, people - this.#people);
    const left = Math.max(0, this.#people - people);
    const first = this.#up === undefined;
    const drafts = [
      ...(up && this.#up === false ? [draft(from, 'session:started', {})] : []),
      ...Array.from({ length: first ? 0 : arrived }, () => draft(from, 'session:attached', {})),
      ...Array.from({ length: left }, () => draft(from, 'session:detached', {})),
      ...(!up && this.#up ? [draft(from, 'session:stopped', {})] : []),
    ];
    // What could not be written down is found different again.
    if (drafts.length === 0 || (await this.#tell(drafts, { onFullDisk: !up }))) {
      this.#up = up;
      this.#people = people;
    } else this.#lookLater();
    await meetPanes(up);
    if (up) await this.#follow();
    else await this.#unfollow();
  }

  /** Answers whether there was space for it. */
  async #tell(drafts: readonly Draft[], options: AppendOptions): Promise<boolean> {
    try {
      await this.#options.events.append(drafts, [], options);
      return true;
    } catch (error) {
      if (!(error instanceof PolyError && error.code === 'storage_full')) throw error;
      this.#options.log.warn('a change of the tmux session could not be written down', { error });
      return false;
    }
  }

  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#later);
    await this.#unfollow();
  }

  async #follow(): Promise<void> {
    if (this.#following || this.#closed) return;
    const { session, log } = this.#options;
    try {
      this.#following = await session.events();
    } catch (error) {
      log.warn('the events of tmux cannot be heard', { error });
      return;
    }
    const stream = this.#following.subscribe({ types: telling });
    const listen = async (): Promise<void> => {
      for await (const _ of stream) await this.look();
    };
    listen().catch((error: unknown) => {
      if (!(error instanceof PolyError && error.code === 'stopping'))
        log.error('the tmux session is not watched', { error });
    });
  }

  async #unfollow(): Promise<void> {
    const following = this.#following;
    this.#following = undefined;
    await following?.close();
  }
}
