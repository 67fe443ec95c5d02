import type { ByteRing } from './byte-ring.ts';
import type { TerminalView } from './terminal-thread.ts';
import type { RemoteTerminal, Terminals } from './terminals.ts';

/** What a pane looks like now. */
export interface ScreenSnapshot extends TerminalView {
  /** Part of the output was passed over, so that something older may be missing or wrong. */
  readonly resynced: boolean;
}

export interface ScreenOptions {
  readonly terminals: Terminals;
  readonly ring: ByteRing;
  readonly cols: number;
  readonly rows: number;
  /** From which byte on the screen answers what the program asks its terminal. */
  readonly answerFrom: number;
  /** Types an answer into the pane; without it none are given. */
  readonly answer?: (bytes: Buffer) => void;
}

/** A question of the program, and where in its output. */
export interface Asked {
  readonly text: string;
  readonly at: number;
  readonly end: number;
}

/** More than a terminal takes as input at once. */
const mostAsked = 4096;

/** How much output a screen is made from when nobody looked before, or when it has fallen behind. */
const replayed = 512 * 1024;
const mostBehind = 1024 * 1024;
const portion = 64 * 1024;

/**
 * A terminal that draws a pane's output. It reads from the ring at its own pace: a flood is passed over, but for what
 * the program asks in it, and nobody waits for it.
 */
export class Screen {
  readonly #terminal: RemoteTerminal;
  readonly #options: ScreenOptions;
  /** How far the output has been drawn. */
  #fed: number;
  #feeding = false;
  #looking: { readonly target: number; resolve(): void }[] = [];
  #answering = false;
  /** What the program has asked in what is not drawn yet. */
  #asked: Asked[] = [];
  #resynced: boolean;
  #closed = false;

  constructor(options: ScreenOptions) {
    this.#options = options;
    const { terminals, ring, cols, rows, answer } = options;
    this.#terminal = terminals.open({ cols, rows }, (text) => {
      if (this.#answering) answer?.(Buffer.from(text));
    });
    this.#fed = replayStart(ring);
    this.#resynced = this.#fed > 0;
    this.wake();
  }

  /** There is new output, in which the program asks its terminal something. */
  wake(asked: readonly Asked[] = []): void {
    if (this.#options.answer) this.#asked.push(...asked.slice(0, mostAsked - this.#asked.length));
    if (this.#feeding || this.#closed) return;
    this.#feeding = true;
    this.#draw()
      .catch(() => this.close()) // The thread has failed, which whoever looks hears.
      .finally(() => {
        this.#feeding = false;
      });
  }

  /** Whether the program waits for an answer. */
  get isAsked(): boolean {
    return this.#asked.length > 0;
  }

  get isClosed(): boolean {
    return this.#closed;
  }

  async #draw(): Promise<void> {
    const { ring, answerFrom } = this.#options;
    while (!this.#closed && this.#fed < ring.end) {
      if (ring.end - this.#fed > mostBehind || this.#fed < ring.start) await this.#passOver();
      this.#answering = this.#fed >= answerFrom;
      const most = this.#answering ? portion : Math.min(portion, answerFrom - this.#fed);
      const bytes = ring.some(this.#fed, most);
      const end = this.#fed + bytes.length;
      await this.#terminal.write(bytes);
      this.#goTo(end);
      this.#letLook();
    }
  }

  /** Those go on whose output is drawn; the end of the drawing lets everybody go on. */
  #letLook(): void {
    const isDone = (target: number): boolean => this.#closed || target <= this.#fed;
    for (const { target, resolve } of this.#looking) if (isDone(target)) resolve();
    this.#looking = this.#looking.filter(({ target }) => !isDone(target));
  }

  #goTo(place: number): void {
    this.#fed = place;
    if (this.isAsked) this.#asked = this.#asked.filter(({ end }) => end > place);
  }

  /** What was asked there is asked of the screen as it was before: where the cursor had been by then nobody knows. */
  async #passOver(): Promise<void> {
    const { ring, answerFrom } = this.#options;
    const { alternate } = await this.#terminal.look();
    const place = replayStart(ring);
    const passed = this.#asked.filter(({ at }) => at >= answerFrom && at < place);
    this.#asked = this.#asked.filter(({ at }) => at >= place);
    this.#terminal.reset({ alternate, asked: passed.map(({ text }) => text).join('') });
    this.#fed = place;
    this.#resynced = true;
  }

  /** The screen after all output there is at this moment. */
  async snapshot(): Promise<ScreenSnapshot> {
    const target = this.#options.ring.end;
    if (this.#fed < target && !this.#closed) {
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#looking.push({ target, resolve });
      this.wake();
      await promise;
    }
    return { ...(await this.#terminal.look()), resynced: this.#resynced };
  }

  resize(cols: number, rows: number): void {
    this.#terminal.resize(cols, rows);
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#letLook();
    this.#terminal.close();
  }
}

/** Where replaying begins: at a line, so that no sequence is torn. */
function replayStart(ring: ByteRing): number {
  return ring.page({ tail: Number.MAX_SAFE_INTEGER, maxBytes: replayed, limit: 0 }).from;
}
