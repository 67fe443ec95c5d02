/** Which time the bars of activity show. */
export type StretchName = 'day' | 'fortnight';

/** A stretch of time in parts of equal length, with words below some of them. */
export interface Stretch {
  readonly from: number;
  readonly partMs: number;
  readonly parts: number;
  /** They stand evenly, the first at the beginning. */
  readonly labels: readonly string[];
}

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;

const day = (now: number): Stretch => {
  const end = new Date(now);
  end.setMinutes(60, 0, 0);
  const from = end.getTime() - dayMs;
  const labels = [0, 4, 8, 12, 16, 20].map((hour) => timeOf(from + hour * hourMs));
  return { from, partMs: hourMs / 2, parts: 48, labels };
};

const fortnight = (now: number): Stretch => {
  const end = new Date(now);
  end.setHours(24, 0, 0, 0);
  const from = end.getTime() - 14 * dayMs;
  const labels = [0, 2, 4, 6, 8, 10, 12].map((days) => dayOf(from + days * dayMs + dayMs / 2));
  return { from, partMs: 6 * hourMs, parts: 56, labels };
};

/** The last day by half hours, or the last fourteen by quarters of a day, up to the end of the part that is now. */
export const stretches: Readonly<Record<StretchName, (now: number) => Stretch>> = { day, fortnight };

export const timeOf = (at: number | string): string =>
  new Date(at).toLocaleTimeString('en-GB', { hour: '2-digit', minute: '2-digit' });

export const dayOf = (at: number | string): string =>
  new Date(at).toLocaleDateString('en-GB', { day: 'numeric', month: 'short' });
