import { PolyError } from '@polyphony/protocol';
import type { Clock } from '../platform/clock.ts';
import { type Caller, sharersWith } from './caller.ts';

const hourMs = 3_600_000;
const hourlyBytes = 16 * 1024 * 1024;
/** What an event takes beside its payload. */
const bytesOfEvent = 512;

interface Used {
  readonly bytes: number;
  readonly at: number;
}

/** How much a family of panes, or an invited person, may have written into the log within an hour; the log keeps it for a week. The user may write what he likes. */
export class Allowance {
  readonly #clock: Clock;
  readonly #used = new Map<string, Used>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Takes what a payload costs that is written so many times; throws when that is more than is left. */
  take(caller: Caller, payload: unknown, times = 1): void {
    const { family } = caller;
    if (family === undefined) return;
    const now = this.#clock.monotonic();
    const used = this.#usedBy(family, now);
    const cost = times * (bytesOfEvent + Buffer.byteLength(JSON.stringify(payload)));
    const over = used + cost - hourlyBytes;
    if (over > 0) {
      const seconds = Math.ceil(((over / hourlyBytes) * hourMs) / 1000);
      throw new PolyError(
        'too_many_requests',
        `${sharersWith(caller)} have had ${hourlyBytes} bytes written down within an hour; this needs ${cost} more.`,
        { hint: `Wait ${seconds} seconds, or keep what is large in a file and tell its name.` },
      );
    }
    this.#used.set(family, { bytes: used + cost, at: now });
  }

  /** Counts what could not be known before it was done, and is written down in any case. */
  charge({ family }: Caller, payload: unknown, times = 1): void {
    if (family === undefined) return;
    const now = this.#clock.monotonic();
    const bytes = times * Buffer.byteLength(JSON.stringify(payload));
    this.#used.set(family, { bytes: this.#usedBy(family, now) + bytes, at: now });
  }

  #usedBy(family: string, now: number): number {
    const left = ({ bytes, at }: Used): number => bytes - ((now - at) / hourMs) * hourlyBytes;
    for (const [name, used] of this.#used) if (left(used) <= 0) this.#used.delete(name);
    const used = this.#used.get(family);
    return used ? left(used) : 0;
  }
}
