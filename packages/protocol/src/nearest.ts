/** Longer than any name that somebody could have mistyped: looking for it would take as long as it is. */
const longestSlip = 100;

/** The name that was probably meant, if any is near enough. */
export function nearest(given: string, names: readonly string[]): string | undefined {
  if (given.length > longestSlip) return undefined;
  const most = Math.max(1, Math.floor(given.length / 3));
  const [best] = names
    .map((name) => ({ name, distance: name.startsWith(given) ? 0 : distanceOf(given, name) }))
    .filter(({ distance }) => distance <= most)
    .sort((a, b) => a.distance - b.distance);
  return best?.name;
}

/** A hint that offers the near name, or all of them, with what stands before each. */
export function didYouMean(given: string, names: readonly string[], before = ''): string {
  const near = nearest(given, names);
  return near === undefined ? `There is ${before}${names.join(', ')}.` : `Did you mean ${before}${near}?`;
}

/** Edits between two words, where two letters that changed places are one. */
function distanceOf(a: string, b: string): number {
  const rows: number[][] = [Array.from({ length: b.length + 1 }, (_, column) => column)];
  for (let row = 1; row <= a.length; row++) {
    const line = [row];
    for (let column = 1; column <= b.length; column++) {
      const same = a[row - 1] === b[column - 1];
      const swapped = row > 1 && column > 1 && a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1];
      line.push(
        Math.min(
          (rows[row - 1]?.[column] ?? 0) + 1,
          (line[column - 1] ?? 0) + 1,
          (rows[row - 1]?.[column - 1] ?? 0) + (same ? 0 : 1),
          swapped ? (rows[row - 2]?.[column - 2] ?? 0) + 1 : Number.POSITIVE_INFINITY,
        ),
      );
    }
    rows.push(line);
  }
  return rows.at(-1)?.at(-1) ?? 0;
}
