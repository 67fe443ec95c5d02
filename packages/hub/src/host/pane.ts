import type { Page, PageQuery } from './byte-ring.ts';
import { refuseInvalid } from './find-lines.ts';
import { HostError } from './host-error.ts';
import { continueOutput } from './joint.ts';
import type { KeptOutput } from './kept-output.ts';
import type { OutputBudget } from './output-budget.ts';
import type { PipeSource } from './pipe-source.ts';
import type { Exit, PtyProcess } from './pty-driver.ts';
import type { HostPane, SearchQuery, Shown } from './requests.ts';
import { type Asked, Screen, type ScreenSnapshot } from './screen.ts';
import type { SearchOutcome, SearchThreads } from './search-threads.ts';
import { TerminalQuestions } from './terminal-questions.ts';
import type { Terminals } from './terminals.ts';

/** Where a pane's bytes come from. */
export type PaneSource =
  | { readonly kind: 'pty'; readonly process: PtyProcess }
  | { readonly kind: 'pipe'; readonly pipe: PipeSource };

export interface PaneOptions {
  readonly id: string;
  readonly cols: number;
  readonly rows: number;
  readonly output: KeptOutput;
  readonly terminals: Terminals;
  /** Shared by all panes, and with whom in it. */
  readonly budget: OutputBudget;
  readonly memoryFamily: string | undefined;
  /** How long a screen that nobody looks at is kept; forever without it. */
  readonly screenIdleMs: number;
  /** Whether a program that asks its terminal something is answered though nobody looks. */
  readonly answers: boolean;
  readonly createdAt: number;
  readonly note: string | undefined;
}

const mostMatches = 500;

/** One terminal: where its bytes come from, those that are kept, and its screen while somebody looks. */
export class Pane {
  readonly id: string;
  readonly output: KeptOutput;
  readonly #options: PaneOptions;
  readonly #listeners = new Set<() => void>();
  readonly #holders = new Set<object>();
  readonly #exited: PromiseWithResolvers<Exit> = Promise.withResolvers();
  #source: PaneSource | null = null;
  #exit: Exit | null = null;
  #cols: number;
  #rows: number;
  #screen: Screen | null = null;
  readonly #questions = new TerminalQuestions();
  #screenTimer: NodeJS.Timeout | null = null;

  constructor(options: PaneOptions) {
    this.#options = options;
    this.id = options.id;
    this.output = options.output;
    this.#cols = options.cols;
    this.#rows = options.rows;
  }

  /** Once, right after the source has begun. */
  start(source: PaneSource): void {
    this.#source = source;
  }

  get exit(): Exit | null {
    return this.#exit;
  }

  get exited(): Promise<Exit> {
    return this.#exited.promise;
  }

  /** Whether there is still somebody who may print. */
  get isLive(): boolean {
    return this.#exit === null && (this.#source?.kind !== 'pipe' || this.#source.pipe.hasWriter);
  }

  /** Told after new output, and after the end. Answers with how to stop being told. */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  append(bytes: Uint8Array): void {
    if (this.#exit) return; // The end was told after the last byte.
    this.output.append(bytes);
    this.#use();
    const screen = this.#screen?.isClosed ? null : this.#screen;
    const asked = screen || this.#options.answers ? this.#askedIn(bytes) : [];
    if (screen) screen.wake(asked);
    else if (asked.length > 0) this.#answer(asked);
    for (const listener of this.#listeners) listener();
  }

  #use(): void {
    this.#options.budget.use(this.output.ring, this.#options.memoryFamily);
  }

  /** What the program asks its terminal in what it has just printed; of tmux that terminal is tmux. */
  #askedIn(bytes: Uint8Array): readonly Asked[] {
    if (this.#source?.kind !== 'pty') return [];
    return this.#questions.find(bytes).map(({ text, back, length }) => {
      const at = this.output.end - back;
      return { text, at, end: at + length };
    });
  }

  /** Draws the screen for a program that has asked its terminal something just now. */
  #answer(asked: readonly Asked[]): void {
    this.#screen = this.#makeScreen(asked[0]?.at ?? this.output.end);
    this.#screen.wake(asked);
    if (this.#options.screenIdleMs !== Number.POSITIVE_INFINITY) this.#dropScreenLater();
  }

  /** Lets its pipe be read, after what its terminal shows of the time before; nothing when nobody can tell. */
  replay(shown?: Shown): void {
    if (this.pipe.isRead) return;
    const { lines, begin = '', end }: Shown = shown ?? { lines: [''], end: '' };
    const { rest, isSeamless } = continueOutput(this.output.keptEnd(lines.length), lines);
    if (!shown || !isSeamless) this.output.leap();
    const reset = rest.includes('\x1b') ? '\x1b[0m' : '';
    const text = `${isSeamless ? '' : begin}${rest}${reset}${end}`;
    if (text !== '') this.append(Buffer.from(text));
    this.pipe.begin();
  }

  end(exit: Exit): void {
    if (this.#exit) return;
    this.#exit = exit;
    this.#exited.resolve(exit);
    for (const listener of this.#listeners) listener();
  }

  read(query: PageQuery): Promise<Page> {
    this.#use();
    return this.output.page(query);
  }

  /** Finds lines in what is kept at this moment. */
  async search(query: SearchQuery, threads: SearchThreads): Promise<SearchOutcome> {
    const { before, from = 0, first = false, limit = mostMatches, share = this.id, ...pattern } = query;
    refuseInvalid(pattern);
    const { output } = this;
    this.#use();
    const to = before === undefined ? output.end : await output.lineStart(before);
    const { letGo, ...range } = await output.share(from, to);
    return threads.search(share, { ...pattern, ...range, first, limit }).finally(letGo);
  }

  get process(): PtyProcess {
    if (this.#source?.kind === 'pty') return this.#source.process;
    throw new HostError('wrong_kind', `Pane ${this.id} is a pane of tmux.`, { id: this.id });
  }

  get pipe(): PipeSource {
    if (this.#source?.kind === 'pipe') return this.#source.pipe;
    throw new HostError('wrong_kind', `Pane ${this.id} is not a pane of tmux.`, { id: this.id });
  }

  /** Holds the program back until all who asked for it let go; tmux cannot be held back, it would keep what it cannot pass on. */
  hold(reader: object): void {
    this.#holders.add(reader);
    if (this.#source?.kind === 'pty') this.#source.process.pause();
  }

  letGo(reader: object): void {
    const held = this.#holders.delete(reader);
    if (held && this.#holders.size === 0 && this.#source?.kind === 'pty') this.#source.process.resume();
  }

  write(bytes: Uint8Array): Promise<void> {
    const { process } = this;
    if (this.#exit) {
      throw new HostError('pane_exited', `Pane ${this.id} has ended; nothing can be typed into it.`, {
        id: this.id,
      });
    }
    return process.write(bytes);
  }

  resize(cols: number, rows: number): void {
    if (this.#source?.kind === 'pty' && this.#exit === null) this.#source.process.resize(cols, rows);
    this.#cols = cols;
    this.#rows = rows;
    this.#screen?.resize(cols, rows);
  }

  snapshot(): Promise<ScreenSnapshot> {
    const screen = this.keepScreen();
    if (this.#options.screenIdleMs !== Number.POSITIVE_INFINITY) this.#dropScreenLater();
    return screen.snapshot();
  }

  /** Draws the screen from now on. */
  keepScreen(): Screen {
    if (!this.#screen || this.#screen.isClosed) this.#screen = this.#makeScreen(this.output.end);
    return this.#screen;
  }

  /** What was asked before had no screen to answer; answering now would type into whatever runs today. */
  #makeScreen(answerFrom: number): Screen {
    const source = this.#source;
    return new Screen({
      terminals: this.#options.terminals,
      ring: this.output.ring,
      cols: this.#cols,
      rows: this.#rows,
      answerFrom,
      // A tmux pane is answered by tmux.
      ...(source?.kind === 'pty' && {
        // A program that has ended, or does not read, misses the answer; nobody else does.
        answer: (bytes: Buffer) => void source.process.write(bytes).catch(() => {}),
      }),
    });
  }

  #dropScreenLater(): void {
    if (this.#screenTimer) clearTimeout(this.#screenTimer);
    this.#screenTimer = setTimeout(() => {
      if (this.#screen?.isAsked) this.#dropScreenLater();
      else this.#dropScreen();
    }, this.#options.screenIdleMs);
    this.#screenTimer.unref();
  }

  #dropScreen(): void {
    this.#screen?.close();
    this.#screen = null;
  }

  info(): HostPane {
    const { output } = this;
    const process = this.#source?.kind === 'pty' ? this.#source.process : null;
    return {
      id: this.id,
      kind: this.#source?.kind ?? 'pty',
      pid: process?.pid ?? null,
      startTime: process?.startTime ?? null,
      status: this.#exit ? 'exited' : 'running',
      exitCode: this.#exit?.exitCode ?? null,
      exitSignal: this.#exit?.exitSignal ?? null,
      cols: this.#cols,
      rows: this.#rows,
      start: output.start,
      end: output.end,
      lines: output.lines,
      createdAt: this.#options.createdAt,
      note: this.#options.note,
    };
  }

  /** Lets go of everything; the program must have ended. */
  async close(): Promise<void> {
    if (this.#screenTimer) clearTimeout(this.#screenTimer);
    this.#dropScreen();
    this.#options.budget.drop(this.output.ring);
    void this.output.remove(); // Whoever waited would wait as long as a disk that hangs.
    if (this.#source?.kind === 'pipe') await this.#source.pipe.close();
  }
}
