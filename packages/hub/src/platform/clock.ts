/** Time comes in as an argument, so that tests can bend it. */
export interface Clock {
  /** Milliseconds since 1970; may jump, so that it never orders anything. */
  now(): number;
  /** Milliseconds that only ever grow, for measuring spans. */
  monotonic(): number;
}

export const systemClock: Clock = { now: Date.now, monotonic: () => performance.now() };
