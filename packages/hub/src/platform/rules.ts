import { realpathSync } from 'node:fs';
import { join, resolve, sep } from 'node:path';

export type Verdict = 'allow' | 'ask' | 'deny';
/** What is asked about, as patterns with `*` and `?`, and what the user decided. */
export type Rules = Readonly<Record<string, Verdict>>;

export interface Judgement {
  readonly verdict: Verdict;
  /** The pattern that decided; none when no pattern fits. */
  readonly pattern?: string;
}

/** The strictest wins. */
const strictness: readonly Verdict[] = ['allow', 'ask', 'deny'];

/** What the most specific pattern says that fits: the one with the most literal characters, of equals the strictest. */
export function judge(
  rules: Rules,
  fits: (pattern: string, verdict: Verdict) => boolean,
  otherwise: Verdict,
): Judgement {
  const [best] = Object.entries(rules)
    .filter(([pattern, verdict]) => fits(pattern, verdict))
    .sort(
      ([a, one], [b, other]) =>
        literals(b) - literals(a) || strictness.indexOf(other) - strictness.indexOf(one),
    );
  return best ? { pattern: best[0], verdict: best[1] } : { verdict: otherwise };
}

const literals = (pattern: string): number => pattern.replace(/[*?]/g, '').length;

/** `*` stands for any characters, `?` for one. Takes no longer than both lengths multiplied: what is matched may be hostile. */
export function fitsText(pattern: string, text: string): boolean {
  let at = 0;
  let read = 0;
  let star = -1;
  let tried = 0;
  while (read < text.length) {
    if (pattern[at] === '*') {
      star = at++;
      tried = read;
    } else if (pattern[at] === '?' || pattern[at] === text[read]) {
      at++;
      read++;
    } else if (star >= 0) {
      at = star + 1;
      read = ++tried;
    } else return false;
  }
  while (pattern[at] === '*') at++;
  return at === pattern.length;
}

/** Whether a folder, given as it really is, is the one a pattern names or lies below it. */
export function fitsFolder(pattern: string, folder: string): boolean {
  const named = realPattern(pattern);
  return fitsText(named, folder) || fitsText(join(named, '*'), folder);
}

/** Where a folder really is, whatever way was named. */
export function realFolder(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return resolve(path); // It is not there, and starting in it will fail.
  }
}

/** A rule about a link is about what it leads to. */
function realPattern(pattern: string): string {
  const parts = pattern.split(sep);
  const wild = parts.findIndex((part) => /[*?]/.test(part));
  if (wild < 0) return realFolder(pattern);
  const literal = parts.slice(0, wild).join(sep);
  const rest = parts.slice(wild).join(sep);
  return wild === 0 ? pattern : join(realFolder(literal || sep), rest);
}
