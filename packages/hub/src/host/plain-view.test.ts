import { describe, expect, it } from 'vitest';
import { plainLine, plainLines, unfinishedEnd } from './plain-view.ts';

describe('a plain line', () => {
  it.each([
    ['plain', 'plain'],
    ['ends with a carriage return\r', 'ends with a carriage return'],
    ['\x1b[1;31mred\x1b[0m', 'red'],
    ['\x1b]0;a title\x07text', 'text'],
    ['\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\', 'link'],
    ['\x1b]0;never closed', ''],
    ['\x1bP1$r0m\x1b\\text', 'text'],
    ['\x9b31mred\x9c', 'red'],
    ['10%\r50%\r100%', '100%'],
    ['a long one\rshort', 'shortg one'],
    ['loading 50%...\r\x1b[Kdone', 'done'],
    ['abcdef\x1b[3Dxyz', 'abcxyz'],
    ['foo\x1b[1GX', 'Xoo'],
    ['12345\b\bX', '123X5'],
    ['\x1b[1G\x1b[0J> \x1b[3G1+1', '> 1+1'],
    ['gone\x1b[2K\rhere', 'here'],
    ['abcdef\x1b[4D\x1b[2P', 'abef'],
    ['abef\x1b[2D\x1b[2@cd', 'abcdef'],
    ['abc\x1b[5Cx', 'abc     x'],
    ['a\x1b[999999999Cb\r\x1b[K', ''],
    ['\x1b[32mgreen\x1b[0m\r', 'green'],
    ['bell\x07 and null\0', 'bell and null'],
    ['tab\tstays', 'tab\tstays'],
    ['turned \u202e around', 'turned  around'],
    ['\x1b[>0q\x1b[?2026$pWelcome\x1b[1Cto\x1b[2;10Hyou\x1b(B\x1b=', 'Welcome to you'],
  ])('of %j is %j', (given, shown) => {
    expect(plainLine(given)).toBe(shown);
  });
});

describe('plain lines', () => {
  const page = (text: string, softBreaks: readonly number[] = []) => ({
    bytes: Buffer.from(text),
    from: 100,
    firstLine: 7,
    softBreaks,
  });

  it('have the numbers of their lines, also where a long one was broken', () => {
    expect(plainLines(page('ab\ncdef\ng', [105]))).toEqual([
      { n: 8, text: 'ab' },
      { n: 9, text: 'cd' },
      { n: 10, text: 'ef' },
      { n: 11, text: 'g' },
    ]);
  });

  it('leave out what was written over behind a break', () => {
    expect(plainLines(page('1%\r2%\r3%\r4%\r\n\rx', [103, 106]))).toEqual([
      { n: 10, text: '4%' },
      { n: 11, text: 'x' },
    ]);
    expect(plainLines(page('ab\r\n', [101])).map(({ text }) => text)).toEqual(['a', 'b']);
  });

  it('of nothing are none', () => {
    expect(plainLines(page(''))).toEqual([]);
    expect(plainLines(page('\n'))).toEqual([{ n: 8, text: '' }]);
  });
});

describe('an unfinished end', () => {
  it.each([
    ['whole', 0],
    ['a\xc3', 1],
    ['a\xc3\xa4', 0],
    ['\xe2\x82', 2],
    ['\xf0\x9d\x84', 3],
    ['\x82\x82', 0],
    ['\x1b', 1],
    ['\x1b[', 2],
    ['\x1b[1;3', 5],
    ['\x1b[1;31m', 0],
    ['\x1b]0;a title', 11],
    ['\x1b]0;a title\x1b', 12],
    ['\x1b]0;a title\x07', 0],
    ['\x1b(', 2],
    ['', 0],
  ])('of %j has %d bytes', (latin1, size) => {
    expect(unfinishedEnd(Buffer.from(latin1, 'latin1'))).toBe(size);
  });
});
