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
  write(text: string | Uint8Array): unknown;
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
    this.#streams.stdout.write(`${text}\n`);
  }

  /** As they are, and nothing else. */
  bytes(data: Uint8Array): void {
    this.#streams.stdout.write(data);
  }

  /** One line, so that streams of values are NDJSON. */
  json(value: unknown): void {
    this.line(JSON.stringify(value));
  }

  /** For people, on standard error. */
  note(text: string): void {
    this.#streams.stderr.write(`${text}\n`);
  }

  table(rows: readonly (readonly string[])[]): void {
    const widths: number[] = [];
    for (const row of rows)
      row.forEach((cell, column) => {
        widths[column] = Math.max(widths[column] ?? 0, widthOf(cell));
      });
    for (const row of rows) {
      const cells = row.map((cell, column) => cell + ' '.repeat((widths[column] ?? 0) - widthOf(cell)));
      this.line(cells.join('  ').trimEnd());
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

/** What a program named itself, without what would reach the terminal as a command or turn text around. */
export function shown(text: string, most = 60): string {
  const plain = text.replace(/[\0-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\u2066-\u2069\ufeff]/g, ' ').trim();
  return [...plain].length > most ? `${[...plain].slice(0, most - 1).join('')}…` : plain;
}
