/** Questions to a terminal: who are you, where is your cursor, which colours and modes have you. */
const questions =
  /\x1b\[[>=?]?\d*c|\x1b\[\??[56]n|\x1b\[>\d*q|\x1b\[\?u|\x1b\[\??\d+\$p|\x1bP[+$]q[^\x1b]*\x1b\\|\x1b\](?:1[0-9]|4;\d+);\?(?:\x07|\x1b\\)|\x1bZ|\x05/g;

/** Old output without the questions in it: the terminal's answers would be typed into the program of today. */
export function withoutQuestions(bytes: Buffer): Buffer {
  return Buffer.from(bytes.toString('latin1').replace(questions, ''), 'latin1');
}

const alternates = /\x1b\[\?(?:1049|1047|47)([hl])/g;

/** Follows whether a program has switched to the alternate screen, so that the terminal can be brought back. */
export class AlternateScreen {
  on: boolean;
  #tail = '';

  constructor(on: boolean) {
    this.on = on;
  }

  see(bytes: Buffer): void {
    const text = this.#tail + bytes.toString('latin1');
    for (const [, what] of text.matchAll(alternates)) this.on = what === 'h';
    this.#tail = text.slice(-7);
  }
}

/** Brings a terminal back to how a shell wants it: mouse, paste, focus and keyboard modes off, cursor and colours normal. */
export function cleanUp(alternate: boolean): string {
  const modes = [1000, 1002, 1003, 1004, 1005, 1006, 1015, 2004, 2026]
    .map((mode) => `\x1b[?${mode}l`)
    .join('');
  return `${modes}\x1b[<u\x1b[>4m\x1b[?1l\x1b>\x1b[r\x1b[m\x1b(B\x0f\x1b[?7h\x1b[?25h\x1b[0 q${alternate ? '\x1b[?1049l' : ''}`;
}
