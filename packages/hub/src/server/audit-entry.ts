import type { Clock } from '../platform/clock.ts';
import type { Log } from '../platform/log.ts';

/** One attempt to come in. */
export interface Attempt {
  /** Who it was; nobody where it was refused. */
  readonly by?: { readonly participant: string; readonly pane?: string };
  readonly door: string;
  readonly path: string;
  /** Why it was refused. */
  readonly why?: string;
}

const minuteMs = 60_000;
const mostRefused = 20;

/**
 * Writes down who was let in, once a minute for each, and what was refused: of a flood the first twenty a minute and
 * how many more there were, so that nobody can wash the trail away by asking.
 */
export function auditEntry(audit: Log, clock: Clock): { note(attempt: Attempt): void; close(): void } {
  let since = Number.NEGATIVE_INFINITY;
  let refused = 0;
  const seen = new Set<string>();
  const begin = (): void => {
    if (refused > mostRefused) audit.warn('more was refused', { count: refused - mostRefused });
    since = clock.monotonic();
    refused = 0;
    seen.clear();
  };
  return {
    note({ by, ...attempt }) {
      if (clock.monotonic() - since > minuteMs) begin();
      if (!by) {
        if (++refused <= mostRefused) audit.warn('a credential was refused', attempt);
        return;
      }
      const { participant, pane } = by;
      const who = `${attempt.door} ${participant} ${pane ?? ''}`;
      if (seen.has(who)) return;
      seen.add(who);
      audit.info('a credential was taken', { by: participant, pane, ...attempt });
    },
    close: begin,
  };
}
