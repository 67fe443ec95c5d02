import type { Terminal } from '@xterm/headless';
import type { ByteRing } from './byte-ring.ts';

/** What a pane looks like now. */
export interface ScreenSnapshot {
  readonly cols: number;
  readonly rows: number;
  /** The text of each row, without the spaces at its end. */
  readonly lines: readonly string[];
  readonly cursor: { readonly x: number; readonly y: number; readonly visible: boolean };
  readonly title: string;
  /** Whether a full-screen program has the alternate screen. */
  readonly alternate: boolean;
  readonly bracketedPaste: boolean;
  readonly applicationCursor: boolean;
  /** Part of the output was passed over, so that something older may be missing or wrong. */
  readonly resynced: boolean;
}

export interface ScreenOptions {
  readonly ring: ByteRing;
  readonly cols: number;
  readonly rows: number;
  /** From which byte on the screen answers what the program asks its terminal. */
  readonly answerFrom: number;
  /** Types an answer into the pane; without it none are given. */
  readonly answer?: (bytes: Buffer) => void;
}

const scrollback = 200;
/** How much output a screen is made from when nobody looked before, or when it has fallen behind. */
const replayed = 512 * 1024;
const mostBehind = 1024 * 1024;
const portion = 64 * 1024;

/**
 * A terminal that draws a pane's output. It reads from the ring at its own pace: a flood is passed over and nobody
 * waits for it.
 */
export class Screen {
  readonly #terminal: Terminal;
  readonly #options: ScreenOptions;
  /** How far the output has been given to the terminal. */
  #fed: number;
  #feeding = false;
  #looking: { readonly target: number; resolve(): void }[] = [];
  #title = '';
  #cursorVisible = true;
  #answering = false;
  #resynced: boolean;
  #closed = false;

  static async make(options: ScreenOptions): Promise<Screen> {
    // Loaded with the first screen: a host that nobody looks at does without.
    const { default: xterm } = await import('@xterm/headless');
    const { cols, rows } = options;
    return new Screen(new xterm.Terminal({ cols, rows, scrollback, allowProposedApi: true }), options);
  }

  constructor(terminal: Terminal, options: ScreenOptions) {
    this.#terminal = terminal;
    this.#options = options;
    const { ring } = options;
    this.#fed = replayStart(ring);
    this.#resynced = this.#fed > 0;
    terminal.onTitleChange((title) => {
      this.#title = title;
    });
    terminal.onData((text) => {
      if (this.#answering) options.answer?.(Buffer.from(text));
    });
    const onMode =
      (visible: boolean) =>
      (params: readonly (number | number[])[]): boolean => {
        if (params.includes(25)) this.#cursorVisible = visible;
        return false;
      };
    terminal.parser.registerCsiHandler({ prefix: '?', final: 'h' }, onMode(true));
    terminal.parser.registerCsiHandler({ prefix: '?', final: 'l' }, onMode(false));
    this.wake();
  }

  /** There is new output. */
  wake(): void {
    if (this.#feeding || this.#closed) return;
    this.#feeding = true;
    this.#feed();
  }

  #feed(): void {
    const { ring, answerFrom } = this.#options;
    const isDone = (target: number): boolean => this.#closed || target <= this.#fed;
    for (const { resolve } of this.#looking.filter(({ target }) => isDone(target))) resolve();
    this.#looking = this.#looking.filter(({ target }) => !isDone(target));
    this.#feeding = !isDone(ring.end);
    if (!this.#feeding) return;
    if (ring.end - this.#fed > mostBehind || this.#fed < ring.start) this.#passOver();
    this.#answering = this.#fed >= answerFrom;
    const bytes = ring.some(this.#fed, this.#answering ? portion : Math.min(portion, answerFrom - this.#fed));
    this.#terminal.write(bytes, () => {
      this.#fed += bytes.length;
      this.#feed();
    });
  }

  #passOver(): void {
    const { alternate } = this.#look();
    this.#terminal.reset();
    if (alternate) this.#terminal.write('\x1b[?1049h');
    this.#fed = replayStart(this.#options.ring);
    this.#resynced = true;
  }

  /** The screen after all output there is at this moment. */
  async snapshot(): Promise<ScreenSnapshot> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#looking.push({ target: this.#options.ring.end, resolve });
    if (!this.#feeding) this.#feed();
    await promise;
    return this.#look();
  }

  #look(): ScreenSnapshot {
    const { cols, rows, buffer, modes } = this.#terminal;
    const { active } = buffer;
    return {
      cols,
      rows,
      lines: Array.from(
        { length: rows },
        (_, row) => active.getLine(active.baseY + row)?.translateToString(true) ?? '',
      ),
      cursor: { x: active.cursorX, y: active.cursorY, visible: this.#cursorVisible },
      title: this.#title,
      alternate: active.type === 'alternate',
      bracketedPaste: modes.bracketedPasteMode,
      applicationCursor: modes.applicationCursorKeysMode,
      resynced: this.#resynced,
    };
  }

  resize(cols: number, rows: number): void {
    this.#terminal.resize(cols, rows);
  }

  close(): void {
    this.#closed = true;
    if (!this.#feeding) this.#feed();
    this.#terminal.dispose();
  }
}

/** Where replaying begins: at a line, so that no sequence is torn. */
function replayStart(ring: ByteRing): number {
  return ring.page({ tail: Number.MAX_SAFE_INTEGER, maxBytes: replayed, limit: 0 }).from;
}
