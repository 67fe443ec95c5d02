/** The numbers of a version as agents write it, `v1.2.3-beta` or `1.2.3 (Claude Code)`; undefined where there are none. */
export function readVersion(written: unknown): string | undefined {
  return typeof written === 'string' ? /\d+(?:\.\d+)*/.exec(written)?.[0] : undefined;
}

/** Less than 0 where the first is the older one; `1.2` is `1.2.0`. */
export function compareVersions(one: string, other: string): number {
  const [left, right] = [one, other].map((version) => version.split('.').map(Number)) as [number[], number[]];
  const index = Array.from({ length: Math.max(left.length, right.length) }).findIndex(
    (_, at) => (left[at] ?? 0) !== (right[at] ?? 0),
  );
  return (left[index] ?? 0) - (right[index] ?? 0);
}
