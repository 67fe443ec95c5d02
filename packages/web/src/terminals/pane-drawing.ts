import type { ErrorInfo } from '@polyphony/protocol';
import type { Terminal } from '@xterm/xterm';
import type { HubState } from '../page/hub-state.ts';
import { scrollback } from './create-terminal.ts';
import { LinePlaces } from './line-places.ts';

export interface PaneDrawingOptions {
  readonly hub: HubState;
  readonly paneId: string;
  readonly terminal: Terminal;
  /** It begins, for the first time or again; told whether there is no past to draw. */
  readonly onBegin: (isThere: boolean) => void;
  /** What was the present when drawing began is on the terminal. */
  readonly onArrived: () => void;
  /** Everything that has come is on the terminal. */
  readonly onDrawn: () => void;
  readonly onError: (error: ErrorInfo) => void;
}

/** What is kept of a pane's output: the first byte of it, and the one after the last. */
interface Kept {
  readonly retainedFrom: number;
  readonly next: number;
}

/** How much of the past is drawn before the user asks for more by scrolling up. */
const firstReplay = 1024 * 1024;
/** Drawing may fall behind by so much before the stream is held. */
const mostUndrawn = 4 * 1024 * 1024;
const leastUndrawn = 256 * 1024;
const newline = 0x0a;

/** The output of a pane on a terminal: from the past up to now, and on. */
export class PaneDrawing {
  /** Where its lines stand. */
  readonly places: LinePlaces;
  readonly #options: PaneDrawingOptions;
  /** The next byte to draw, and where the first one was. */
  #next = 0;
  #from = 0;
  /** Where drawing reaches what was the present when it began. */
  #now = 0;
  #arrived = false;
  /** Bytes up to the first newline are thrown away: they may be the rest of a sequence. */
  #torn = false;
  #retainedFrom = 0;
  #undrawn = 0;
  /** Goes up when everything is cleared: what was under way then no longer counts. */
  #life = 0;
  #leave: (() => void) | undefined;
  #closed = false;

  constructor(options: PaneDrawingOptions) {
    this.#options = options;
    this.places = new LinePlaces(options.terminal);
  }

  /** Draws the newest part of what is kept, or all of it. */
  begin({ retainedFrom, next }: Kept, whole: boolean): void {
    this.#retainedFrom = retainedFrom;
    const isShort = next - retainedFrom <= firstReplay;
    this.#replay(isShort || whole ? retainedFrom : next - firstReplay, next);
  }

  /** Draws everything that is kept and that a terminal can hold. */
  async beginWhole(): Promise<void> {
    const from = await this.#oldestHeld();
    if (this.#closed) return;
    this.#leave?.();
    this.#clear();
    this.#retainedFrom = from;
    this.#replay(from, this.#next);
  }

  /** More is kept than was drawn. */
  get hasOlder(): boolean {
    return this.#from > this.#retainedFrom && this.#options.terminal.buffer.active.type === 'normal';
  }

  close(): void {
    this.#closed = true;
    this.#leave?.();
  }

  #replay(from: number, now: number): void {
    this.#leave?.();
    this.#next = from;
    this.#from = from;
    this.#now = now;
    this.#torn = from > this.#retainedFrom;
    this.places.begin(this.#lineAt(from));
    this.#arrived = from >= now;
    this.#options.onBegin(this.#arrived);
    this.#join();
    if (this.#arrived) this.#options.onArrived();
  }

  /** What has come and is not drawn yet is drawn before, and cleared with everything else. */
  #clear(): void {
    this.#life++;
    this.#options.terminal.write('\x1bc');
  }

  /** The first byte of the oldest line that is kept, of as many as a terminal can hold. */
  async #oldestHeld(): Promise<number> {
    const { hub, paneId } = this.#options;
    try {
      const { lines = [] } = await hub.client.call('pane:read', { paneId, tail: 1 });
      const fromLine = (lines[0]?.n ?? 1) - scrollback;
      if (fromLine < 1) return this.#retainedFrom;
      return (await hub.client.call('pane:read', { paneId, fromLine, limit: 1 })).from;
    } catch {
      return this.#retainedFrom; // The hub is away: it is fetched when it is back, if need be in vain.
    }
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
    const { hub, paneId, onError } = this.#options;
    this.#leave = hub.socket.follow({
      paneId,
      next: () => this.#next,
      take: (offset, bytes) => this.#take(offset, bytes),
      restart: (from) => {
        this.#clear();
        this.#next = from;
        this.places.begin(this.#lineAt(from));
      },
      fail: onError,
    });
  }

  #take(offset: number, bytes: Uint8Array): void {
    const { terminal } = this.#options;
    if (offset > this.#next) {
      terminal.write(`\x1b[0m\r\n\x1b[2m[${offset - this.#next} bytes are no longer kept]\x1b[0m\r\n`);
      this.places.begin(this.#lineAt(offset));
    }
    let fresh = bytes.subarray(Math.max(0, this.#next - offset));
    const leavePlace = this.places.count(fresh);
    this.#next = Math.max(this.#next, offset + bytes.length);
    if (this.#torn) {
      fresh = fresh.subarray(fresh.indexOf(newline) + 1);
      this.#torn = false;
    }
    this.#undrawn += fresh.length;
    const end = this.#next;
    const life = this.#life;
    terminal.write(fresh, () => {
      this.#undrawn -= fresh.length;
      if (this.#closed) return;
      if (!this.#leave && this.#undrawn < leastUndrawn) this.#join();
      if (life !== this.#life) return;
      leavePlace();
      this.#drawn(end);
    });
    if (this.#undrawn <= mostUndrawn || !this.#leave) return;
    this.#leave();
    this.#leave = undefined;
  }

  #drawn(end: number): void {
    if (!this.#arrived && end >= this.#now) {
      this.#arrived = true;
      this.#options.onArrived();
    } else if (this.#undrawn === 0) this.#options.onDrawn();
  }
}
