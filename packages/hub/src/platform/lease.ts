/**
 * That something is held for a time. Its fence counts how often it was taken: whoever knows an older number holds
 * nothing, whatever became of it since.
 */
export interface Lease {
  /** Who has it; null where nobody does. */
  readonly holder: string | null;
  readonly fence: number;
  /** Milliseconds since 1970. */
  readonly until: number | null;
}

export const unheld: Lease = { holder: null, fence: 0, until: null };

export const take = ({ fence }: Lease, holder: string, until: number): Lease => ({
  ...{ holder, until },
  fence: fence + 1,
});

export const keep = (lease: Lease, until: number): Lease => ({ ...lease, until });

export const giveBack = ({ fence }: Lease): Lease => ({ holder: null, fence, until: null });

export const hasRunOut = ({ until }: Lease, now: number): boolean => until !== null && until <= now;

/**
 * How somebody stands to it: `holds` it; it is `free`; his own has `ended` and nobody has it; an `other` has it; or he
 * has it, but by a take that came after the one he knows, and so that one is `superseded`.
 */
export type Standing = 'holds' | 'free' | 'ended' | 'other' | 'superseded';

/** Of one who goes by these keys, and by the fence of his take where he tells it. */
export function standing({ holder, fence }: Lease, keys: readonly string[], known?: number): Standing {
  if (holder === null) return known === undefined || fence === 0 ? 'free' : 'ended';
  if (!keys.includes(holder)) return 'other';
  return known === undefined || known === fence ? 'holds' : 'superseded';
}
