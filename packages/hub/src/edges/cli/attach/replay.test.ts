import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { BorrowedScreen, borrow, giveBack } from './replay.ts';

describe('the screen a pane borrows', () => {
  const shownBy = (screen: BorrowedScreen, ...chunks: string[]) =>
    chunks.map((chunk) => screen.take(Buffer.from(chunk, 'latin1')).toString('latin1')).join('');

  it.each([
    '\x1b[c',
    '\x1b[>c',
    '\x1b[0c',
    '\x1b[6n',
    '\x1b[?6n',
    '\x1b[>q',
    '\x1b[?u',
    '\x1b[?2026$p',
    '\x1b]11;?\x07',
    '\x1b]4;1;?\x1b\\',
    '\x1bP+q544e\x1b\\',
  ])('is asked nothing, wherever the question is cut: %j', (question) => {
    for (let cut = 0; cut <= question.length; cut++)
      expect(
        shownBy(new BorrowedScreen(false), `a${question.slice(0, cut)}`, `${question.slice(cut)}b`),
      ).toBe('ab');
  });

  it('keeps colours, moves and text of any script', () => {
    const text = Buffer.from('\x1b[1;31mé漢\x1b[m\x1b[2;5H\x1b]0;title\x07\x1b[?25l').toString('latin1');
    expect(shownBy(new BorrowedScreen(false), text)).toBe(text);
  });

  it('is never left by the program, also when its switch is cut in two', () => {
    const screen = new BorrowedScreen(false);
    expect(shownBy(screen, 'prompt\x1b[?10', '49;25hfull')).toMatch(/^prompt\x1b\[\?25h.*full$/s);
    expect(screen.alternate).toBe(true);
    expect(shownBy(screen, 'more\x1b[?1049lafter')).toMatch(/^more.*\x1b\[2Jpromptafter$/s);
    expect(screen.alternate).toBe(false);
    expect(shownBy(screen, 'x\x1bcy')).toMatch(/^x[^\x1b]*\x1b\[!p.*\x1b\[2Jy$/s);
  });

  it('shows everything else as it is, however it is cut', () => {
    fc.assert(
      fc.property(fc.array(fc.string({ unit: fc.constantFrom(...'ab\x1b[?2;5hlm') })), (chunks) => {
        const text = chunks.join('');
        fc.pre(!/\x1b\[\?[\d;]*47|1049|\x1bc/.test(text));
        expect(shownBy(new BorrowedScreen(false), ...chunks, '.')).toBe(`${text}.`);
      }),
    );
  });

  it('is taken and given back whole', () => {
    expect(borrow).toContain('\x1b[?1049h');
    expect(giveBack()).toMatch(/\x1b\[\?1000l.*\x1b\[\?1049l$/s);
  });
});
