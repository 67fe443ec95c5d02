/** Longer than any word that somebody could have mistyped: looking for it would take as long as it is. */
const longestSlip = 100;

/** The word of the list that was probably meant, or undefined when none is close. */
export function nearest(word: string, words: readonly string[]): string | undefined {
  if (word.length > longestSlip) return undefined;
  const plain = normalise(word);
  const limit = plain.length < 4 ? 1 : Math.max(2, Math.floor(plain.length / 3));
  let best: string | undefined;
  let bestDistance = Math.min(limit + 1, plain.length);
  for (const candidate of words) {
    const distance = editDistance(plain, normalise(candidate));
    if (distance < bestDistance) [best, bestDistance] = [candidate, distance];
  }
  // `dir` is far from `startDirectory`, and yet what was meant.
  return best ?? words.find((candidate) => plain.length > 2 && normalise(candidate).includes(plain));
}

function normalise(word: string): string {
  return word.toLowerCase().replaceAll(/[-_ ]/g, '');
}

/** How many letters must be added, dropped or changed to come from one word to the other. */
function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const changed = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(changed, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[b.length] ?? 0;
}
