const epoch = /\|(\d{10})\b/;
const clock = /\b(?:resets?|again|until)(?: at| on)? (\d{1,2})(?::(\d{2}))?\s*([ap])\.?m\b/i;

/** When a limit ends, as an agent's own words tell it: by the second, or by the next time that a clock here shows it. */
export function resetTime(text: string, at: number): string | undefined {
  const seconds = epoch.exec(text)?.[1];
  if (seconds !== undefined) return new Date(Number(seconds) * 1000).toISOString();
  const [, hour, minute = '0', half = ''] = clock.exec(text) ?? [];
  if (hour === undefined || Number(hour) > 12 || Number(minute) > 59) return undefined;
  const date = new Date(at);
  date.setHours((Number(hour) % 12) + (half.toLowerCase() === 'p' ? 12 : 0), Number(minute), 0, 0);
  if (date.getTime() <= at) date.setDate(date.getDate() + 1);
  return date.toISOString();
}
