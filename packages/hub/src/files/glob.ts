import { PolyError } from '@polyphony/protocol';

/** One pattern: its segments, each a list of what a character may be. */
export interface Glob {
  readonly text: string;
  readonly segments: readonly (Segment | '**')[];
}

/** A letter, any letter, or any number of them. A set of letters counts as any letter: that says too much, never too little. */
type Segment = readonly Part[];
type Part = { readonly letter: string } | 'any' | 'many';

const mostBraces = 64;

/**
 * Reads a pattern below a folder. Without a wildcard at its end it also means everything below it.
 *
 * @example readGlobs('/home/ada/shop', 'src/{api,web}') // two globs, each with all below it
 */
export function readGlobs(root: string, pattern: string): readonly Glob[] {
  const plain = pattern.replace(/^(\.\/)+/, '').replace(/\/+$/, '') || '.';
  if (plain.split('/').includes('..') || plain.includes('\0'))
    throw new PolyError('invalid_arguments', `"${pattern}" leads out of the folder.`, {
      hint: 'Write paths as they are below the root, or name another root.',
    });
  const inRoot = plain.startsWith('/') ? plain : plain === '.' ? root : `${root}/${plain}`;
  return expandBraces(inRoot, pattern).map((text) => {
    const names = text.split('/').filter((name) => name !== '' && name !== '.');
    const segments = names.map((name) => (name === '**' ? name : readSegment(name)));
    const last = segments.at(-1);
    const mayBeFolder = last === undefined || isPlain(last);
    return { text: pattern, segments: mayBeFolder ? [...segments, '**'] : segments };
  });
}

/** A path as a pattern that means only itself. */
export function plainGlob(path: string, text: string): Glob {
  const names = path.split('/').filter((name) => name !== '');
  return { text, segments: names.map((name) => [...name].map(partOf)) };
}

function expandBraces(text: string, pattern: string): readonly string[] {
  const done: string[] = [];
  const left = [text];
  while (left.length > 0) {
    const next = left.pop() as string;
    const found = /\{([^{}]*,[^{}]*)\}/.exec(next);
    if (!found) done.push(next);
    else
      for (const choice of (found[1] ?? '').split(','))
        left.push(next.slice(0, found.index) + choice + next.slice(found.index + found[0].length));
    if (done.length + left.length > mostBraces)
      throw new PolyError(
        'invalid_arguments',
        `"${pattern.slice(0, 80)}" has more than ${mostBraces} variants.`,
        {
          hint: 'Name fewer in braces, or a folder above them.',
        },
      );
  }
  return done;
}

const letters = new Map<string, Part>();

/** One object for each letter there is: patterns are long, and many are kept. */
function partOf(letter: string): Part {
  const known = letters.get(letter) ?? { letter };
  letters.set(letter, known);
  return known;
}

function readSegment(name: string): Segment {
  const parts: Part[] = [];
  for (let i = 0; i < name.length; ) {
    const rest = name.slice(i);
    const [set] = /^\[[^\]]+\]/.exec(rest) ?? [];
    const letter = String.fromCodePoint(rest.codePointAt(0) ?? 0);
    if (set) parts.push('any');
    else if (letter === '*') {
      if (parts.at(-1) !== 'many') parts.push('many');
    } else if (letter === '?') parts.push('any');
    else parts.push(partOf(letter));
    i += (set ?? letter).length;
  }
  return parts;
}

/** How much may still be looked at: what is more complicated than anybody writes is not looked at to its end. */
export interface Effort {
  left: number;
}

/** For one call, whatever it compares; an ordinary pair takes some dozens of these. */
export const mostEffort = 10_000_000;

/** Whether some path fits both; where that is not certain, or takes too much effort to find out, yes. */
export function overlap(a: Glob, b: Glob, effort: Effort): boolean {
  if (beginApart(a.segments, b.segments)) return false;
  return meet(a.segments, b.segments, '**', (x, y) => segmentsMeet(x, y, effort), effort);
}

/** Whether they differ already in a folder that both name plainly. */
function beginApart(a: Glob['segments'], b: Glob['segments']): boolean {
  for (let i = 0; i < Math.min(a.length, b.length); i++) {
    const [x, y] = [a[i], b[i]];
    if (!isPlain(x) || !isPlain(y)) return false;
    if (x.length !== y.length || x.some((part, at) => !partsMeet(part, y[at] as Part))) return true;
  }
  return false;
}

const isPlain = (segment: Segment | '**' | undefined): segment is Segment =>
  segment !== undefined && segment !== '**' && segment.every((part) => typeof part === 'object');

const segmentsMeet = (a: Segment | '**', b: Segment | '**', effort: Effort): boolean =>
  a === '**' || b === '**' || meet(a, b, 'many', partsMeet, effort);

const partsMeet = (a: Part, b: Part): boolean =>
  typeof a === 'string' || typeof b === 'string' || a.letter === b.letter;

/** Whether two lists can say the same, where one sign stands for any number of items; one table, whatever they hold. */
function meet<T>(
  a: readonly T[],
  b: readonly T[],
  many: T,
  same: (a: T, b: T) => boolean,
  effort: Effort,
): boolean {
  const width = b.length + 1;
  effort.left -= (a.length + 1) * width;
  if (effort.left < 0) return true;
  /** Whether the rests from here on meet. */
  const table = new Uint8Array((a.length + 1) * width);
  for (let i = a.length; i >= 0; i--)
    for (let j = b.length; j >= 0; j--) {
      const [x, y] = [a[i], b[j]];
      const at = (down: number, right: number): boolean => table[(i + down) * width + j + right] === 1;
      let met = i === a.length && j === b.length;
      if (i < a.length && x === many) met ||= at(1, 0) || (j < b.length && at(0, 1));
      if (j < b.length && y === many) met ||= at(0, 1) || (i < a.length && at(1, 0));
      if (!met && i < a.length && j < b.length && x !== many && y !== many)
        met = same(x as T, y as T) && at(1, 1);
      table[i * width + j] = Number(met);
    }
  return table[0] === 1;
}
