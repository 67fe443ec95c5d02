import { FitAddon } from '@xterm/addon-fit';
import type { Terminal } from '@xterm/xterm';

/** Where nobody has chosen: as large as the pane allows, and never too small to read where it is held in a hand. */
const sizes = { usual: 13, least: 9, leastOnPhone: 12 };
/** As in the styles. */
const phone = '(max-width: 720px)';
const scrollbarWidth = 16;
const marginColumns = 4;
/** DECTCEM: the cursor is shown, or hidden. */
const cursorMode = 25;

export interface LettersOptions {
  readonly terminal: Terminal;
  /** What scrolls where the pane does not fit. */
  readonly box: HTMLElement;
  /** The size that was chosen, if one was. */
  readonly chosen: number | undefined;
}

/** How large a pane is drawn in its box, and which part of it is seen. */
export class Letters {
  readonly #terminal: Terminal;
  readonly #box: HTMLElement;
  readonly #fit = new FitAddon();
  #chosen: number | undefined;
  #cursorX = 0;
  #showsCursor = true;
  /** How far down it was brought last, and in which room; elsewhere in the same room somebody has scrolled by hand. */
  #brought: { readonly top: number; readonly room: string } | undefined;

  constructor({ terminal, box, chosen }: LettersOptions) {
    this.#terminal = terminal;
    this.#box = box;
    this.#chosen = chosen;
    terminal.loadAddon(this.#fit);
    terminal.options.fontSize = chosen ?? sizes.usual;
    for (const [final, shows] of [
      ['h', true],
      ['l', false],
    ] as const)
      terminal.parser.registerCsiHandler({ prefix: '?', final }, (modes) => {
        if (modes.includes(cursorMode)) this.#showsCursor = shows;
        return false; // Left to the terminal.
      });
  }

  get size(): number {
    return this.#terminal.options.fontSize ?? sizes.usual;
  }

  choose(size: number | undefined): void {
    this.#chosen = size;
    this.scale();
  }

  /** The size a pane would have to fill the box in letters of the size that was chosen, or the usual one. */
  sizeHere(): { readonly cols: number; readonly rows: number } | undefined {
    const fits = this.#fit.proposeDimensions();
    if (!fits) return undefined;
    const scale = this.size / (this.#chosen ?? sizes.usual);
    return {
      cols: Math.max(20, Math.floor(fits.cols * scale)),
      rows: Math.max(5, Math.floor(fits.rows * scale)),
    };
  }

  /** Letters as they were chosen, else as large as the whole pane allows; where it does not fit the box scrolls. */
  scale(): void {
    const box = this.#box;
    const drawn = box.querySelector('.xterm-screen')?.getBoundingClientRect();
    if (!drawn || drawn.width === 0 || box.clientWidth === 0) return;
    const room = Math.min((box.clientWidth - scrollbarWidth) / drawn.width, box.clientHeight / drawn.height);
    const wanted = Math.floor(this.size * room * 4) / 4;
    const least = matchMedia(phone).matches ? sizes.leastOnPhone : sizes.least;
    const size = this.#chosen ?? Math.min(sizes.usual, Math.max(least, wanted));
    if (size !== this.size) this.#terminal.options.fontSize = size;
  }

  /** Where the pane does not fit, the part is seen where something happens. */
  keepCursorInView(): void {
    const box = this.#box;
    const drawn = box.querySelector('.xterm-screen');
    if (!drawn) return;
    const { cursorX, cursorY } = this.#terminal.buffer.active;
    const row = drawn.clientHeight / this.#terminal.rows;
    if (box.scrollHeight > box.clientHeight && !this.#isReadElsewhere()) {
      box.scrollTop = Math.max(0, (cursorY + 2) * row - box.clientHeight);
      this.#brought = { top: box.scrollTop, room: roomOf(box) };
    }
    // Sideways only when it has moved: whoever reads on at the right stays there. One that is hidden may be anywhere,
    // and one in the last column was left there by a line that fills the row.
    const isAtEnd = cursorX >= this.#terminal.cols - 1;
    if (cursorX === this.#cursorX || isAtEnd || !this.#showsCursor) return;
    this.#cursorX = cursorX;
    const column = drawn.clientWidth / this.#terminal.cols;
    if (box.scrollWidth > box.clientWidth)
      box.scrollLeft = Math.max(0, (cursorX + marginColumns) * column - box.clientWidth);
  }

  /** Goes along with the cursor again from now on, also where somebody has scrolled by hand. */
  goAlong(): void {
    this.#brought = undefined;
  }

  /** Somebody reads another part than that with the cursor, which a program that draws all anew takes everywhere. */
  #isReadElsewhere(): boolean {
    const { scrollTop, scrollHeight, clientHeight } = this.#box;
    const brought = this.#brought;
    if (brought?.room !== roomOf(this.#box)) return false;
    return scrollTop !== brought.top && scrollTop + clientHeight < scrollHeight - 1;
  }
}

const roomOf = ({ clientHeight, scrollHeight }: HTMLElement): string => `${clientHeight} ${scrollHeight}`;
