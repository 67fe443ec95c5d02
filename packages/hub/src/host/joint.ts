import { plainLine } from './plain-view.ts';

/** The last that is kept of a pane's output. */
export interface KeptEnd {
  /** Whole lines, as people read them. */
  readonly lines: readonly string[];
  /** What stands in the line that has not ended; empty when none has begun. */
  readonly open: string;
  /** Whether that is all there has ever been. */
  readonly isAll: boolean;
}

export interface Continuation {
  /** What is to be added to what is kept. */
  readonly rest: string;
  /** Whether it goes on exactly where that ends; otherwise something may be missing between them. */
  readonly isSeamless: boolean;
}

/** What goes on after the kept end of an output, given the lines that a terminal shows of it; the last is the cursor's. */
export function continueOutput(kept: KeptEnd, shown: readonly string[]): Continuation {
  const whole = shown.slice(0, -1).map(comparable);
  const met = meeting(kept, whole);
  const [next = '', ...others] = shown.slice(met ?? 0);
  const after = met === undefined ? undefined : behind(next, spread(kept.open));
  const lines = after === undefined ? [next, ...others] : [after, ...others];
  return { rest: lines.join('\r\n'), isSeamless: after !== undefined };
}

/** How many of the shown lines are kept already, if the two meet at all: in as many lines as they can, as early as they can. */
function meeting({ lines, isAll }: KeptEnd, shown: readonly string[]): number | undefined {
  const kept = lines.map(comparable);
  const found = overlaps(kept, shown).indexOf(kept.length);
  const begin = found + 1 - kept.length;
  if (isAll && (kept.length === 0 || begin === 0)) return kept.length;
  const met = found >= 0 && kept.length > 0 ? found + 1 : (overlaps(shown, kept).at(-1) ?? 0);
  // Blank lines alone are like any others.
  const isSure = shown.slice(Math.max(0, met - kept.length), met).some((line) => line !== '');
  return isSure ? met : undefined;
}

/** For each of the lines, how many of the first ones of a pattern end with it (Knuth, Morris and Pratt). */
function overlaps(pattern: readonly string[], lines: readonly string[]): readonly number[] {
  const borders = [0];
  const step = (length: number, line: string | undefined): number => {
    let at = length;
    while (at > 0 && pattern[at] !== line) at = borders[at - 1] ?? 0;
    return pattern[at] === line ? at + 1 : 0;
  };
  for (let at = 1; at < pattern.length; at++) borders.push(step(borders[at - 1] ?? 0, pattern[at]));
  let length = 0;
  return lines.map((line) => {
    length = step(length === pattern.length ? (borders.at(-1) ?? 0) : length, line);
    return length;
  });
}

/** A terminal has spaces where a tab was printed, and nobody sees those at the end of a line. */
const comparable = (line: string): string => spread(plainLine(line)).trimEnd();

function spread(line: string): string {
  let text = '';
  for (const [index, part] of line.split('\t').entries())
    text += index === 0 ? part : ' '.repeat(tabStop - (text.length % tabStop)) + part;
  return text;
}

const tabStop = 8;

/** What a line has behind a text that it begins with, with its colours; nothing if it does not begin with it. */
function behind(line: string, text: string): string | undefined {
  const plain = spread(plainLine(line));
  if (!plain.startsWith(text)) return plain === text.trimEnd() ? '' : undefined;
  if (plain === text) return '';
  let skip = [...text].length;
  let rest = '';
  for (const [piece] of line.matchAll(pieces)) if (isInvisible.test(piece) || skip-- <= 0) rest += piece;
  return rest;
}

/** Sequences of a terminal that move nothing, and characters. */
const pieces = /\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b[ -/]*[0-~]|./gsu;
const isInvisible = /^[\0-\x08\x0a-\x1f]/;
