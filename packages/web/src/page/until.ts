import { ageOf } from './pane-state.ts';

/** How long it is until then, in one unit; undefined where it has come. */
export function untilOf(then: string, now: number): string | undefined {
  const at = Date.parse(then);
  return at > now ? ageOf(new Date(now).toISOString(), at) : undefined;
}
