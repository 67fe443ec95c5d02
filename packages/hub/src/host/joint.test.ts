import { describe, expect, it } from 'vitest';
import { continueOutput } from './joint.ts';

const all = { isAll: true };
const part = { isAll: false };

describe('what a terminal shows', () => {
  it.each([
    ['the same', ['a', 'b'], '$ ', all, ['a', 'b', '$ '], ''],
    ['more lines', ['a', 'b'], '', all, ['a', 'b', 'c', ''], 'c\r\n'],
    ['more of a line', ['a'], 'ha', all, ['a', 'half', ''], 'lf\r\n'],
    ['less, of what it has let go of', ['a', 'b', 'c'], '', part, ['b', 'c', 'd', ''], 'd\r\n'],
    ['more, where little was kept', ['c'], '', part, ['a', 'b', 'c', 'd'], 'd'],
    ['nothing but a prompt', [], '$ ', all, ['$ x'], 'x'],
    ['a prompt without its space', ['a'], '$ ', all, ['a', '$'], ''],
    ['spaces for tabs', ['a\tb'], 'c\td', all, ['a       b', 'c       de'], 'e'],
    ['colours', ['\x1b[31mred\x1b[m'], '> ', all, ['\x1b[31mred', '\x1b[32m>\x1b[m ls'], '\x1b[32m\x1b[mls'],
    ['wide characters', ['日本'], '語', all, ['日本', '語🙂'], '🙂'],
    ['the same line many times', ['y', 'y'], '', all, ['y', 'y', 'y', 'y', ''], 'y\r\ny\r\n'],
  ])('goes on behind what is kept: %s', (_, lines, open, { isAll }, shown, rest) => {
    expect(continueOutput({ lines, open, isAll }, shown)).toEqual({ rest, isSeamless: true });
  });

  it.each([
    ['nothing is kept', [], '', part, ['a', ''], 'a\r\n'],
    ['other lines are kept', ['x', 'y'], '', all, ['a', 'b', ''], 'a\r\nb\r\n'],
    ['only blank lines are the same', ['x', ''], '', part, ['', 'b', ''], '\r\nb\r\n'],
    ['the open line is another', ['a', 'b'], '50%', part, ['a', 'b', 'done', ''], 'done\r\n'],
  ])('stands behind a gap when %s', (_, lines, open, { isAll }, shown, rest) => {
    expect(continueOutput({ lines, open, isAll }, shown)).toEqual({ rest, isSeamless: false });
  });
});
