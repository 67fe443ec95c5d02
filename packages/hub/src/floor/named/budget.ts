import type { Clock } from '../../platform/clock.ts';

const minuteMs = 60_000;

/** How much each named agent says in each project, and until when it is not heard. People have no budget. */
export class Budget {
  readonly #clock: Clock;
  /** When each spoke in the last minute, the oldest first. */
  readonly #said = new Map<string, number[]>();
  /** Those who were told that they said too much, and how long they had to wait then. */
  readonly #throttled = new Map<string, number>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Counts one, or answers after how many milliseconds it may go on, and whether that is news. */
  take(
    agent: string,
    project: string,
    most: number,
  ): { readonly waitMs: number; readonly isNew: boolean } | undefined {
    const place = `${agent}\n${project}`;
    const now = this.#clock.monotonic();
    const said = (this.#said.get(place) ?? []).filter((at) => at > now - minuteMs);
    this.#said.set(place, said);
    if (said.length < most) {
      said.push(now);
      this.#throttled.delete(place);
      return undefined;
    }
    // So many must be forgotten that one more fits.
    const until = (said[said.length - most] ?? now) + minuteMs;
    const isNew = !this.#throttled.has(place);
    this.#throttled.set(place, until);
    return { waitMs: until - now, isNew };
  }

  /** Until when somebody is not heard, as a time of day. */
  until(agent: string, project: string): number | undefined {
    const until = this.#throttled.get(`${agent}\n${project}`);
    const now = this.#clock.monotonic();
    return until === undefined || until <= now ? undefined : Math.round(this.#clock.now() + until - now);
  }
}
