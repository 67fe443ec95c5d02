const unitMs = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 };
export type TimeUnit = keyof typeof unitMs;

/** The milliseconds of `500ms`, `90s`, `1.5m` or `1h`, and of a bare number where a unit is meant by it; otherwise undefined. */
export function durationMs(text: string, bare?: TimeUnit): number | undefined {
  const [, count = '', unit = bare] = /^(\d+(?:\.\d+)?)(ms|s|m|h)?$/.exec(text) ?? [];
  const ms = unit === undefined ? Number.NaN : Math.round(Number(count) * unitMs[unit as TimeUnit]);
  return count !== '' && Number.isSafeInteger(ms) ? ms : undefined;
}

/** A time as people write it, in the largest unit that needs no fraction. */
export function durationText(ms: number): string {
  const fitting = (Object.keys(unitMs) as TimeUnit[]).filter((unit) => ms > 0 && ms % unitMs[unit] === 0);
  const unit = fitting.at(-1) ?? 'ms';
  return `${ms / unitMs[unit]}${unit}`;
}
