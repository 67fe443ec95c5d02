import { setTimeout as pause } from 'node:timers/promises';
import type { Clock } from '../platform/clock.ts';
import type { Target } from './door.ts';

/** What is known of a pane and its program at one moment. */
export interface Sight {
  /** Why the pane is not the one that was meant, or takes nothing. */
  readonly trouble: string | undefined;
  /** When it last printed something; nothing when nobody knows. */
  readonly drawnAt: number | undefined;
  /** When somebody last typed there through the hub. */
  readonly typedAt: number | undefined;
  readonly status: string;
  readonly evidence: string;
  /** What its screen shows of the place for text; nothing where it shows none. */
  readonly draft: string | undefined;
  /** What stands on the screen, to tell a frame that is drawn again from one that changes. */
  readonly text: string;
}

/** Asks whether it may be typed at, waiting as long as quiet takes. */
export type Guard = (target: Target) => Promise<Verdict>;

/** Why nothing may be typed; or what to ask again right before each write, since much can change in a moment. */
type Verdict = { readonly obstacle: string } | { readonly recheck: () => string | undefined };

export interface GuardOptions {
  readonly clock: Clock;
  /** For so long nothing may have been printed or typed. */
  readonly quietMs: number;
  readonly see: (target: Target) => Promise<Sight>;
  /** Whether it is still the pane that was meant, running and in front. */
  readonly troubleOf: (target: Target) => string | undefined;
  readonly typedAt: (target: Target) => number | undefined;
}

/** At rest an agent begins nothing by itself. */
const atRest: ReadonlySet<string> = new Set(['idle', 'done', 'error']);

/** The last frame of a turn may come long after its end; what still changes after so many looks is no last frame. */
const mostLooks = 3;

/** Why a pane may not be typed into, whatever the time. */
export function obstacleIn({ trouble, status, evidence, draft }: Sight): string | undefined {
  if (trouble) return trouble;
  if (status === 'blocked') return `blocked: it waits for an answer (${evidence})`;
  if (!atRest.has(status)) return `busy: it is ${status} (${evidence})`;
  if (draft === undefined) return `no_composer: its screen shows no place for text (${evidence})`;
  return draft === '' ? undefined : 'draft: somebody has begun to write there';
}

/** How long it must stay as it is before it counts as quiet; 0 when it has been quiet for long enough. */
export function quietIn({ drawnAt, typedAt }: Sight, now: number, quietMs: number): number {
  const since = (at: number | undefined): number => (at === undefined ? 0 : Math.max(0, at + quietMs - now));
  // What nobody followed may have drawn this very moment.
  return Math.max(drawnAt === undefined ? quietMs : since(drawnAt), since(typedAt));
}

/** Lets a line be typed only at an agent that rests at an empty composer, in a pane that is still its own. */
export function createGuard({ clock, quietMs, see, troubleOf, typedAt }: GuardOptions): Guard {
  return async (target) => {
    const first = await see(target);
    const recheck = (): string | undefined =>
      troubleOf(target) ??
      ((typedAt(target) ?? 0) > (first.typedAt ?? 0) ? 'typing: somebody types there' : undefined);
    const obstacle = obstacleIn(first);
    if (obstacle) return { obstacle };
    let last = first;
    for (let looks = 0; looks < mostLooks; looks += 1) {
      const wait = quietIn(last, clock.now(), quietMs);
      if (wait === 0) return { recheck };
      await pause(wait);
      const then = await see(target);
      const changed = obstacleIn(then) ?? recheck();
      if (changed) return { obstacle: changed };
      // Some draw all the time: the same words on the screen mean that nothing has happened.
      if (then.text === last.text) return { recheck };
      last = then;
    }
    return { obstacle: `not_quiet: its screen changes (${last.evidence})` };
  };
}
