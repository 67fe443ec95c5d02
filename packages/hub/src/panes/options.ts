import type { Participant } from '@polyphony/protocol';
import type { EventLog } from '../events/event-log.ts';
import type { Host } from '../host/client.ts';
import type { Clock } from '../platform/clock.ts';
import type { Config } from '../platform/config.ts';
import type { Log } from '../platform/log.ts';
import type { Random } from '../platform/random.ts';
import type { Ask } from '../registry/ask.ts';
import type { Credentials } from '../registry/credentials.ts';
import type { Store } from '../store/store.ts';
import type { MayType } from './input-gate.ts';
import type { SeatOf } from './permit.ts';
import type { Keep } from './pty-backend.ts';
import type { TmuxSession } from './tmux-session.ts';

/** What panes need of the rest of the hub. */
export interface PanesOptions {
  readonly store: Store;
  readonly events: EventLog;
  readonly credentials: Credentials;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly config: Config;
  readonly ask: Ask;
  readonly keep: Keep;
  readonly session: TmuxSession;
  readonly connectHost: () => Promise<Host>;
  /** The host that runs already, if one does. */
  readonly findHost: () => Promise<Host | undefined>;
  /** The environment the user has. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** How programs in panes find the hub. */
  readonly address: () => {
    readonly home: string;
    readonly host: string;
    readonly socket: string;
    readonly port: number | null;
    readonly url: string | null;
  };
  readonly hub: Participant;
  /** Secrets that a pane is given whenever it starts, and that are kept nowhere; throws where it must not start without. */
  readonly secretEnv: (paneId: string) => Readonly<Record<string, string>>;
  /** Whether an id belongs to something that is no pane. */
  readonly isReserved: (id: string) => boolean;
  readonly seatOf: SeatOf;
  readonly mayType: MayType;
}
