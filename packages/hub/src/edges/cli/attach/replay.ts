/**
 * Questions to a terminal: who are you, where is your cursor, which colours and modes have you. The hub answers them:
 * an answer of this terminal would be typed a second time, or into the program of today what one of yesterday asked.
 */
const questions =
  /\x1b\[[>=?]?\d*c|\x1b\[\??[56]n|\x1b\[>\d*q|\x1b\[\?u|\x1b\[\??\d+\$p|\x1bP[+$]q[^\x1b]*\x1b\\|\x1b\](?:1[0-9]|4;\d+);\?(?:\x07|\x1b\\)|\x1bZ|\x05/g;

const enter = '\x1b[?1049h';
const leave = '\x1b[?1049l';
const blank = '\x1b[m\x1b[r\x1b[H\x1b[2J';
/** Full resets and changes of modes, of which some are about screens. */
const switches = /\x1bc|\x1b\[\?([\d;]+)([hl])/g;
/** What may be the beginning of a switch or a question. */
const unfinished =
  /\x1b(?:\[(?:[>=?]?[\d;]{0,32}\$?)?|\][\d;?]{0,32}\x1b?|P(?:[+$](?:q[^\x1b]{0,64}\x1b?)?)?)?$/;
const screens = new Set(['1049', '1047', '47']);
/** How much of the normal screen is drawn again at most. */
const mostKept = 64 * 1024;

/**
 * Both screens of a program inside the alternate screen of this terminal, so that its normal one stays as it was: the
 * program's own switches become a blank screen, and its normal screen drawn again.
 */
export class BorrowedScreen {
  /** Whether the program is on its own alternate screen. */
  #alternate: boolean;
  #normal = '';
  #tail = '';

  constructor(alternate: boolean) {
    this.#alternate = alternate;
  }

  get alternate(): boolean {
    return this.#alternate;
  }

  /** What a program printed, as this terminal may have it. */
  take(bytes: Buffer): Buffer {
    const text = this.#tail + bytes.toString('latin1');
    this.#tail = unfinished.exec(text)?.[0] ?? '';
    const whole = text.slice(0, text.length - this.#tail.length).replace(questions, '');
    let shown = '';
    let from = 0;
    for (const { 0: found, 1: modes = '', 2: to, index } of whole.matchAll(switches)) {
      shown += this.#keep(whole.slice(from, index));
      from = index + found.length;
      const others = modes.split(';').filter((mode) => !screens.has(mode));
      if (found === '\x1bc') {
        this.#alternate = false;
        this.#normal = '';
        shown += `\x1b[!p${blank}`;
      } else if (others.length === modes.split(';').length) shown += this.#keep(found);
      else {
        if (others.length > 0) shown += `\x1b[?${others.join(';')}${to}`;
        shown += this.#switch(to === 'h');
      }
    }
    return Buffer.from(shown + this.#keep(whole.slice(from)), 'latin1');
  }

  #keep(text: string): string {
    if (this.#alternate || text === '') return text;
    const kept = this.#normal + text;
    const cut = kept.length > mostKept ? kept.indexOf('\n', kept.length - mostKept) + 1 : 0;
    this.#normal = kept.slice(cut);
    return text;
  }

  #switch(alternate: boolean): string {
    if (alternate === this.#alternate) return '';
    this.#alternate = alternate;
    if (alternate) return blank;
    return blank + this.#normal;
  }
}

/** Takes the terminal's alternate screen, as every full-screen program does. */
export const borrow: string = `${enter}${blank}`;

/** Gives it back as a shell wants it: mouse, paste, focus and keyboard modes off, cursor and colours normal. */
export function giveBack(): string {
  const modes = [1000, 1002, 1003, 1004, 1005, 1006, 1015, 2004, 2026]
    .map((mode) => `\x1b[?${mode}l`)
    .join('');
  return `${modes}\x1b[<u\x1b[>4m\x1b[?1l\x1b>\x1b[r\x1b[m\x1b(B\x0f\x1b[?7h\x1b[?25h\x1b[0 q${leave}`;
}
