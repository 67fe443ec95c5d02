import type { ErrorInfo, PaneScreen } from '@polyphony/protocol';
import { Unicode11Addon } from '@xterm/addon-unicode11';
import { type IDecoration, type IDisposable, Terminal } from '@xterm/xterm';
import type { HubState } from './hub-state.ts';
import { Letters } from './letters.ts';
import { LinePlaces } from './line-places.ts';
import { keepStylesWithinPolicy } from './policy-styles.ts';
import { keepQuiet } from './quiet-terminal.ts';
import { type Scheme, terminalThemes } from './terminal-themes.ts';

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

export interface PaneTerminalOptions {
  readonly hub: HubState;
  readonly paneId: string;
  readonly box: HTMLElement;
  readonly scheme: Scheme;
  /** The size of letters, if one was chosen. */
  readonly letters: number | undefined;
  readonly onView: (view: PaneView) => void;
  /** A key that is the page's and not the program's; answers whether it was taken. */
  readonly onKey: (event: KeyboardEvent) => boolean;
  /** Somebody clicked a link in the output. */
  readonly onLink: (address: string) => void;
}

/** How much of the past is drawn before the user asks for more by scrolling up. */
const firstReplay = 1024 * 1024;
/** Drawing may fall behind by so much before the stream is held. */
const mostUndrawn = 4 * 1024 * 1024;
const leastUndrawn = 256 * 1024;
/** The hub answers a program's questions while it draws the screen, which it stops a minute after the last look. */
const lookEveryMs = 25_000;
const scrollback = 200_000;
/** A line that was asked for stands so far down, below what is laid over the terminal. */
const foundAt = 0.75;
const reportsOfFocus = new Set(['\x1b[I', '\x1b[O']);
const newline = 0x0a;

let styled = false;

/** One pane in one box: drawn at the pane's own size, from the past up to now, and on. */
export class PaneTerminal {
  readonly #options: PaneTerminalOptions;
  readonly #terminal: Terminal;
  readonly #owned: IDisposable[] = [];
  #view: PaneView = { cols: 80, rows: 24, live: false, behind: 0, loading: false, error: undefined };
  /** The next byte to draw, and where the first one was. */
  #next = 0;
  #from = 0;
  /** Where drawing reaches what was the present when it began. */
  #now = 0;
  /** Bytes up to the first newline are thrown away: they may be the rest of a sequence. */
  #torn = false;
  #retainedFrom = 0;
  #undrawn = 0;
  #leave: (() => void) | undefined;
  #restore: number | undefined;
  readonly #places: LinePlaces;
  readonly #letters: Letters;
  #arrivals: (() => void)[] = [];
  #found: IDecoration | undefined;
  #closed = false;

  constructor(options: PaneTerminalOptions) {
    this.#options = options;
    if (!styled) keepStylesWithinPolicy();
    styled = true;
    const { box, scheme, letters, onKey, onLink } = options;
    this.#terminal = new Terminal({
      fontFamily: getComputedStyle(box).fontFamily,
      theme: terminalThemes[scheme],
      minimumContrastRatio: 4.5,
      scrollback,
      cursorBlink: false,
      macOptionIsMeta: true,
      // For the widths of characters.
      allowProposedApi: true,
      // A link may say one thing and lead elsewhere: it is shown, and opened by nobody but the user.
      linkHandler: { activate: (_, address) => onLink(address) },
    });
    this.#places = new LinePlaces(this.#terminal);
    this.#letters = new Letters({ terminal: this.#terminal, box, chosen: letters });
    // As the hub's own terminal counts: by itself this one takes an emoji for as wide as a letter.
    this.#terminal.loadAddon(new Unicode11Addon());
    this.#terminal.unicode.activeVersion = '11';
    this.#terminal.attachCustomKeyEventHandler((event) => event.type !== 'keydown' || !onKey(event));
    this.#owned.push(
      ...keepQuiet(this.#terminal),
      this.#terminal.onData((data) => this.type(data)),
      this.#terminal.onRender(() => this.#look()),
      this.#terminal.onScroll(() => this.#look()),
    );
    const resized = new ResizeObserver(() => this.#scale());
    resized.observe(box);
    const unlisten = options.hub.onPaneChange((paneId) => {
      if (paneId === options.paneId) void this.#readSize();
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
  }

  /**
   * Goes to a line of the output, and marks it. What is kept and not drawn yet is drawn first; answers whether the line
   * stands on the terminal, which one that was cleared does not.
   */
  async goTo(n: number, text: string): Promise<boolean> {
    const { rows } = this.#terminal;
    const above = Math.floor(rows * foundAt);
    const isDrawn = async (): Promise<number | undefined> =>
      n > ((await this.#places.first) ?? Number.POSITIVE_INFINITY) ? this.#places.find(n, text) : undefined;
    if (this.#terminal.buffer.active.type !== 'normal') return false;
    let row = await isDrawn();
    // At the very top everything would be drawn anew, and the mark lost.
    if ((row === undefined || row <= above) && this.#hasOlder) {
      await this.#drawAll(this.#view.behind);
      if (this.#closed) return false;
      row = undefined;
    }
    row ??= await this.#places.find(n, text);
    if (row === undefined || this.#closed) return false;
    this.#terminal.scrollToLine(Math.max(0, row - above));
    this.#mark(row);
    return true;
  }

  /** Takes the mark off that `goTo` has left. */
  unmark(): void {
    this.#found?.marker.dispose();
    this.#found = undefined;
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
    this.#leave?.();
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
      this.#retainedFrom = range.retainedFrom;
      // The screen of a full-screen program is made of everything since it took it.
      const isShort = range.next - range.retainedFrom <= firstReplay;
      this.#replay(isShort || screen.alternate ? range.retainedFrom : range.next - firstReplay, range.next);
    } catch (error) {
      // The hub is away, or the pane has gone; the list knows which, and begins anew.
      if (!this.#closed) this.#set({ error: error as ErrorInfo });
      if (!this.#closed) setTimeout(() => this.#closed || void this.#begin(), 1_000);
    }
  }

  #replay(from: number, now: number): void {
    this.#leave?.();
    this.#next = from;
    this.#from = from;
    this.#now = now;
    this.#torn = from > this.#retainedFrom;
    this.#places.begin(this.#lineAt(from));
    this.#set({ live: from >= now, error: undefined });
    this.#join();
    if (from >= now) this.#arrived();
  }

  /** The number of the line a byte stands in. */
  async #lineAt(since: number): Promise<number | undefined> {
    const { hub, paneId } = this.#options;
    try {
      const { lines = [], from } = await hub.client.call('pane:read', { paneId, since, limit: 1 });
      return from === since ? (lines[0]?.n ?? 1) : undefined;
    } catch {
      return undefined; // Nobody can go to a line then; what is drawn is drawn all the same.
    }
  }

  #join(): void {
    const { hub, paneId } = this.#options;
    this.#leave = hub.socket.follow({
      paneId,
      next: () => this.#next,
      take: (offset, bytes) => this.#take(offset, bytes),
      restart: (from) => {
        this.#terminal.reset();
        this.#next = from;
        this.#places.begin(this.#lineAt(from));
      },
      fail: (error) => this.#set({ error }),
    });
  }

  #take(offset: number, bytes: Uint8Array): void {
    if (offset > this.#next) {
      this.#terminal.write(`\x1b[0m\r\n\x1b[2m[${offset - this.#next} bytes are no longer kept]\x1b[0m\r\n`);
      this.#places.begin(this.#lineAt(offset));
    }
    let fresh = bytes.subarray(Math.max(0, this.#next - offset));
    const leavePlace = this.#places.count(fresh);
    this.#next = Math.max(this.#next, offset + bytes.length);
    if (this.#torn) {
      fresh = fresh.subarray(fresh.indexOf(newline) + 1);
      this.#torn = false;
    }
    this.#undrawn += fresh.length;
    const end = this.#next;
    this.#terminal.write(fresh, () => {
      leavePlace();
      this.#drawn(fresh.length, end);
    });
    if (this.#undrawn <= mostUndrawn || !this.#leave) return;
    this.#leave();
    this.#leave = undefined;
  }

  #drawn(bytes: number, end: number): void {
    this.#undrawn -= bytes;
    if (this.#closed) return;
    if (!this.#leave && this.#undrawn < leastUndrawn) this.#join();
    if (!this.#view.live && end >= this.#now) this.#arrived();
    else if (this.#undrawn === 0) this.#keepCursorInView();
  }

  /** What was the present when drawing began is on the screen. */
  #arrived(): void {
    this.#open();
    if (this.#restore !== undefined) {
      const { active } = this.#terminal.buffer;
      this.#terminal.scrollToLine(Math.max(0, active.baseY - this.#restore));
      this.#restore = undefined;
    }
    this.#set({ live: true, loading: false });
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
    if (behind > 0 && active.viewportY === 0 && this.#hasOlder && this.#view.live) void this.#drawAll(behind);
  }

  /** Whether more is kept than was drawn. */
  get #hasOlder(): boolean {
    return this.#from > this.#retainedFrom && this.#terminal.buffer.active.type === 'normal';
  }

  /** Draws everything that is kept, and stands as far behind the newest line as before; settles when it does. */
  #drawAll(behind: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#arrivals.push(resolve);
    this.#restore = behind;
    this.#set({ loading: true });
    this.#leave?.();
    this.#terminal.reset();
    this.#replay(this.#retainedFrom, this.#next);
    return promise;
  }

  #mark(row: number): void {
    this.unmark();
    const { active } = this.#terminal.buffer;
    const marker = this.#terminal.registerMarker(row - active.baseY - active.cursorY);
    const height = this.#places.heightAt(row);
    this.#found = this.#terminal.registerDecoration({ marker, width: this.#terminal.cols, height });
    this.#found?.onRender((element) => {
      if (element.classList.contains('found')) return;
      element.classList.add('found');
      // Where the pane does not fit into its box.
      element.scrollIntoView({ block: 'nearest', inline: 'nearest' });
    });
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
