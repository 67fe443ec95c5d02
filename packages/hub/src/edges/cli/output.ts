import type { Env } from './env.ts';

type Style = 'bold' | 'dim' | 'red' | 'green' | 'yellow' | 'cyan';

const codes: Readonly<Record<Style, readonly [on: number, off: number]>> = {
  bold: [1, 22],
  dim: [2, 22],
  red: [31, 39],
  green: [32, 39],
  yellow: [33, 39],
  cyan: [36, 39],
};

/** A stream as far as printing needs it. */
interface Sink {
  readonly isTTY?: boolean;
  readonly columns?: number;
  write(text: string | Uint8Array, done?: (error?: Error | null) => void): unknown;
}

/** A process as far as printing needs it; its streams take time to make and are not touched before they are used. */
export interface Streams {
  readonly stdout: Sink;
  readonly stderr: Sink;
}

/** Where a command prints; colours only where somebody sees them. */
export class Output {
  readonly #env: Env;
  readonly #streams: Streams;
  #broken = false;

  constructor(env: Env, streams: Streams) {
    this.#env = env;
    this.#streams = streams;
  }

  get isTerminal(): boolean {
    return this.#streams.stdout.isTTY === true;
  }

  get columns(): number {
    return this.#streams.stdout.columns ?? 80;
  }

  paint(style: Style, text: string): string {
    const [on, off] = codes[style];
    return wantsColour(this.#env, this.#streams.stdout) ? `\x1b[${on}m${text}\x1b[${off}m` : text;
  }

  line(text = ''): void {
    this.bytes(`${text}\n`);
  }

  /** As they are, and nothing else. */
  bytes(data: string | Uint8Array): void {
    this.#streams.stdout.write(data, (error) => {
      // Whoever read the output has seen enough, like `head`; anything else is a loss.
      if (!error || this.#broken || (error as NodeJS.ErrnoException).code === 'EPIPE') return;
      this.#broken = true;
      this.note(`poly: the output cannot be written: ${error.message}.`);
    });
  }

  /** One line, so that streams of values are NDJSON. */
  json(value: unknown): void {
    this.line(JSON.stringify(value));
  }

  /** For people, on standard error. */
  note(text: string): void {
    this.#streams.stderr.write(`${text}\n`);
  }

  /** In a terminal the column `cut` gives way, so that a row stays on one line. */
  table(rows: readonly (readonly string[])[], { cut }: { readonly cut?: number } = {}): void {
    const widths: number[] = [];
    for (const row of rows)
      row.forEach((cell, column) => {
        widths[column] = Math.max(widths[column] ?? 0, widthOf(cell));
      });
    const tooWide = widths.reduce((sum, width) => sum + width + gap.length, -gap.length) - this.columns;
    if (cut !== undefined && this.isTerminal && tooWide > 0)
      widths[cut] = Math.max(leastCut, (widths[cut] ?? 0) - tooWide);
    for (const row of rows) {
      const cells = row.map((cell, column) => fill(cell, widths[column] ?? 0));
      this.line(cells.join(gap).trimEnd());
    }
  }

  /** Says what is being waited for once it has taken a second, and wipes it away again. */
  async progress<T>(what: string, work: Promise<T>): Promise<T> {
    const frames = ['|', '/', '-', '\\'];
    let shown = 0;
    const started = performance.now();
    const timer = setInterval(() => {
      const { stderr } = this.#streams;
      if (performance.now() - started < 1000 || stderr.isTTY !== true) return;
      stderr.write(`\r${frames[shown++ % frames.length]} ${what} …`);
    }, 200);
    try {
      return await work;
    } finally {
      clearInterval(timer);
      if (shown > 0) this.#streams.stderr.write('\r\x1b[K');
    }
  }
}

/** FORCE_COLOR, then NO_COLOR, then whether a terminal that knows colours is there. */
function wantsColour({ NO_COLOR, FORCE_COLOR, TERM }: Env, { isTTY = false }: Sink): boolean {
  if (FORCE_COLOR !== undefined && FORCE_COLOR !== '') return FORCE_COLOR !== '0' && FORCE_COLOR !== 'false';
  return !NO_COLOR && TERM !== 'dumb' && isTTY;
}

const gap = '  ';
/** A column is never cut so far that nothing can be told from it. */
const leastCut = 8;

const wide =
  /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|\p{Emoji_Presentation}/gu;
const painted = /\x1b\[\d+m/g;
const unseen = /[\u200b-\u200f]|\p{M}/gu;

/** How many columns a text takes in a terminal, near enough for a table. */
function widthOf(text: string): number {
  const plain = text.replace(painted, '');
  if (/^[\x20-\x7e]*$/.test(plain)) return plain.length;
  const seen = plain.replace(unseen, '');
  return [...seen].length + (seen.match(wide)?.length ?? 0);
}

/** Exactly as wide as asked, with a sign where something is left out. */
function fill(text: string, width: number): string {
  const letters = [...text];
  if (widthOf(text) > width) {
    while (widthOf(letters.join('')) >= width) letters.pop();
    letters.push('…');
  }
  const filled = letters.join('');
  return filled + ' '.repeat(width - widthOf(filled));
}

/** What a program named itself, without what would reach the terminal as a command or turn text around. */
export function shown(text: string, most = 60): string {
  const plain = text.replace(/[\0-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\u2066-\u2069\ufeff]/g, ' ').trim();
  return [...plain].length > most ? `${[...plain].slice(0, most - 1).join('')}…` : plain;
}
