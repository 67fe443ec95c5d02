const units: readonly (readonly [seconds: number, name: string])[] = [
  [86_400, 'd'],
  [3_600, 'h'],
  [60, 'm'],
  [1, 's'],
];

/** How long ago, in the largest unit that fits. */
export function age(since: number, now: number = Date.now()): string {
  const seconds = Math.max(0, Math.floor((now - since) / 1000));
  const [size, name] = units.find(([length]) => seconds >= length) ?? [1, 's'];
  return `${Math.floor(seconds / size)}${name}`;
}
