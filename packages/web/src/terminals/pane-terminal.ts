import { type ErrorInfo, type PaneScreen, PolyError } from '@polyphony/protocol';
import type { IDisposable, Terminal } from '@xterm/xterm';
import type { HubState } from '../page/hub-state.ts';
import { type Scheme, terminalThemes } from '../page/terminal-themes.ts';
import { awayError } from './away-error.ts';
import { type CreateTerminalOptions, createTerminal } from './create-terminal.ts';
import { Letters } from './letters.ts';
import { LineMark } from './line-mark.ts';
import { PaneDrawing } from './pane-drawing.ts';
import { standStill } from './still-picture.ts';

/** How a shown pane is, for what stands around it. */
export interface PaneView {
  readonly cols: number;
  readonly rows: number;
  /** Its newest output has been drawn once. */
  readonly live: boolean;
  /** Lines between what is shown and the newest one. */
  readonly behind: number;
  /** Older output is being fetched. */
  readonly loading: boolean;
  readonly error: ErrorInfo | undefined;
}

export interface PaneTerminalOptions extends Omit<CreateTerminalOptions, 'fontFamily'> {
  readonly hub: HubState;
  readonly paneId: string;
  readonly box: HTMLElement;
  /** The size of letters, if one was chosen. */
  readonly letters: number | undefined;
  readonly onView: (view: PaneView) => void;
}

/** The hub answers a program's questions while it draws the screen, which it stops a minute after the last look. */
const lookEveryMs = 25_000;
/** A line that was asked for stands so far down, below what is laid over the terminal. */
const foundAt = 0.75;
const reportsOfFocus = new Set(['\x1b[I', '\x1b[O']);

/** One pane in one box: drawn at the pane's own size, from the past up to now, and on. */
export class PaneTerminal {
  readonly #options: PaneTerminalOptions;
  readonly #terminal: Terminal;
  readonly #drawing: PaneDrawing;
  readonly #letters: Letters;
  readonly #mark: LineMark;
  readonly #owned: IDisposable[] = [];
  #view: PaneView = { cols: 80, rows: 24, live: false, behind: 0, loading: false, error: undefined };
  #restore: number | undefined;
  #showAgain: () => void = () => {};
  #arrivals: (() => void)[] = [];
  #closed = false;

  constructor(options: PaneTerminalOptions) {
    this.#options = options;
    const { hub, paneId, box, letters } = options;
    this.#terminal = createTerminal({ ...options, fontFamily: getComputedStyle(box).fontFamily });
    this.#letters = new Letters({ terminal: this.#terminal, box, chosen: letters });
    this.#mark = new LineMark(this.#terminal);
    this.#drawing = new PaneDrawing({
      hub,
      paneId,
      terminal: this.#terminal,
      onBegin: (isThere) => this.#set({ live: isThere, error: undefined }),
      onArrived: () => this.#arrive(),
      onDrawn: () => this.#keepCursorInView(),
      onError: (error) => this.#set({ error }),
    });
    this.#owned.push(
      this.#terminal.onData((data) => this.type(data)),
      this.#terminal.onRender(() => this.#look()),
      this.#terminal.onScroll(() => this.#look()),
    );
    const resized = new ResizeObserver(() => this.#scale());
    resized.observe(box);
    const unlisten = hub.onPaneChange((changed) => {
      if (changed === paneId) void this.#readSize();
    });
    const looking = setInterval(() => {
      if (document.visibilityState === 'visible') void this.#readSize();
    }, lookEveryMs);
    this.#owned.push(
      { dispose: () => resized.disconnect() },
      { dispose: unlisten },
      { dispose: () => clearInterval(looking) },
    );
    void this.#begin();
  }

  focus(): void {
    if (this.#terminal.element) this.#terminal.focus();
    else this.#options.box.focus();
  }

  type(data: string): void {
    if (reportsOfFocus.has(data)) return; // Of several who look on, none is the one.
    this.#letters.goAlong();
    const { hub, paneId } = this.#options;
    if (!hub.socket.type(paneId, data))
      hub.report({ code: 'unreachable', message: 'the hub is away: what you type is not sent.' });
  }

  /** Arrow keys as the program wants them. */
  arrow(final: 'A' | 'B' | 'C' | 'D'): void {
    this.type(`\x1b${this.#terminal.modes.applicationCursorKeysMode ? 'O' : '['}${final}`);
  }

  paste(text: string): void {
    if (this.#terminal.element) this.#terminal.paste(text);
  }

  get selection(): string {
    return this.#terminal.getSelection();
  }

  /** Goes to the newest line and stays there. */
  follow(): void {
    this.#restore = undefined;
    this.#terminal.scrollToBottom();
    this.#letters.goAlong();
    this.#letters.keepCursorInView();
  }

  /**
   * Goes to a line of the output, and marks it. What is kept and not drawn yet is drawn first; answers whether the line
   * stands on the terminal, which one that was cleared does not.
   */
  async goTo(n: number, text: string): Promise<boolean> {
    const { places } = this.#drawing;
    const above = Math.floor(this.#terminal.rows * foundAt);
    const isDrawn = async (): Promise<number | undefined> =>
      n > ((await places.first) ?? Number.POSITIVE_INFINITY) ? places.find(n, text) : undefined;
    if (this.#terminal.buffer.active.type !== 'normal') return false;
    let row = await isDrawn();
    // At the very top everything would be drawn anew, and the mark lost.
    if ((row === undefined || row <= above) && this.#drawing.hasOlder) this.#drawAll(this.#view.behind);
    if (this.#view.loading || !this.#view.live) {
      await this.#arrival();
      if (this.#closed) return false;
      row = undefined;
    }
    row ??= await places.find(n, text);
    if (row === undefined || this.#closed) return false;
    this.#terminal.scrollToLine(Math.max(0, row - above));
    this.#mark.put(row, places.heightAt(row));
    return true;
  }

  /** Takes the mark off that `goTo` has left. */
  unmark(): void {
    this.#mark.remove();
  }

  /** The size of letters now. */
  get letters(): number {
    return this.#letters.size;
  }

  /** Letters of this size, or again of one that fits. */
  setLetters(letters: number | undefined): void {
    this.#letters.choose(letters);
    this.#keepCursorInView();
  }

  /** Goes to the oldest line that is kept. */
  goBack(): void {
    this.#terminal.scrollToTop();
  }

  setScheme(scheme: Scheme): void {
    this.#terminal.options.theme = terminalThemes[scheme];
  }

  setScreenReader(on: boolean): void {
    this.#terminal.options.screenReaderMode = on;
  }

  sizeHere(): { readonly cols: number; readonly rows: number } | undefined {
    return this.#letters.sizeHere();
  }

  close(): void {
    this.#closed = true;
    this.#drawing.close();
    for (const go of this.#arrivals.splice(0)) go();
    for (const one of this.#owned) one.dispose();
    this.#terminal.dispose();
  }

  async #begin(): Promise<void> {
    const { client } = this.#options.hub;
    const { paneId } = this.#options;
    try {
      const [screen, range] = await Promise.all([
        client.call('pane:screen', { paneId }),
        client.call('pane:read', { paneId, tail: 0, view: 'raw' }),
      ]);
      if (this.#closed) return;
      this.#setSize(screen);
      // The screen of a full-screen program is made of everything since it took it.
      this.#drawing.begin(range, screen.alternate);
    } catch (error) {
      // The hub is away, or the pane has gone; the list knows which, and begins anew.
      if (!this.#closed) this.#set({ error: error instanceof PolyError ? error.info : awayError });
      if (!this.#closed) setTimeout(() => this.#closed || void this.#begin(), 1_000);
    }
  }

  /** What was the present when drawing began is on the screen. */
  #arrive(): void {
    this.#open();
    if (this.#restore !== undefined) {
      const { active } = this.#terminal.buffer;
      this.#terminal.scrollToLine(Math.max(0, active.baseY - this.#restore));
      this.#restore = undefined;
    }
    this.#set({ live: true, loading: false });
    // The new lines stand there only when they have been rendered.
    const rendered = this.#terminal.onRender(() => {
      rendered.dispose();
      this.#showAgain();
    });
    this.#terminal.refresh(0, this.#terminal.rows - 1);
    this.#scale();
    for (const go of this.#arrivals.splice(0)) go();
  }

  /** Shown only now: each line that scrolls by before eyes costs many times what it costs to be parsed. */
  #open(): void {
    if (this.#terminal.element) return;
    const { cols, rows } = this.#terminal;
    this.#terminal.open(this.#options.box);
    // xterm.js 6 measures what can be scrolled when lines scroll and when the size changes, but not when it is opened.
    // A row more and again one less changes nothing else.
    this.#terminal.resize(cols, rows + 1);
    this.#terminal.resize(cols, rows);
    if (document.activeElement === this.#options.box) this.#terminal.focus();
  }

  /** Where the user has scrolled to; at the upper end everything that is kept is drawn again. */
  #look(): void {
    const { active } = this.#terminal.buffer;
    const behind = active.baseY - active.viewportY;
    if (behind !== this.#view.behind) this.#set({ behind });
    if (behind > 0 && active.viewportY === 0 && this.#drawing.hasOlder && this.#view.live)
      this.#drawAll(behind);
  }

  /** Draws what is kept, and stands as far behind the newest line as before. */
  #drawAll(behind: number): void {
    if (this.#view.loading) return;
    this.#restore = behind;
    this.#set({ loading: true });
    this.#showAgain();
    this.#showAgain = standStill(this.#options.box);
    void this.#drawing.beginWhole();
  }

  /** Settles when what is being drawn is on the screen. */
  #arrival(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#arrivals.push(resolve);
    return promise;
  }

  async #readSize(): Promise<void> {
    const { hub, paneId } = this.#options;
    try {
      const screen = await hub.client.call('pane:screen', { paneId });
      if (!this.#closed) this.#setSize(screen);
    } catch {
      // The pane has gone or the hub is away: what is drawn stays.
    }
  }

  #setSize({ cols, rows }: Pick<PaneScreen, 'cols' | 'rows'>): void {
    if (this.#terminal.cols !== cols || this.#terminal.rows !== rows) this.#terminal.resize(cols, rows);
    if (this.#view.cols !== cols || this.#view.rows !== rows) this.#set({ cols, rows });
    this.#scale();
  }

  #scale(): void {
    this.#letters.scale();
    this.#keepCursorInView();
  }

  #keepCursorInView(): void {
    if (this.#view.behind === 0) this.#letters.keepCursorInView();
  }

  #set(change: Partial<PaneView>): void {
    this.#view = { ...this.#view, ...change };
    if (!this.#closed) this.#options.onView(this.#view);
  }
}
