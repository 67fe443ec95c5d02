import fc from 'fast-check';
import { expect, it } from 'vitest';
import { revealed, revealedWords } from './revealed.ts';

it.each([
  ['a plain text', 'rm -rf ~', '"rm -rf ~"'],
  ['what a terminal obeys', '\x1b[2J\r\n\x7f\x9b', '"\\u001b[2J\\r\\n\\u{7f}\\u{9b}"'],
  ['what turns text around', 'a\u202eb\u2066c\u200f', '"a\\u{202e}b\\u{2066}c\\u{200f}"'],
  [
    'what takes no room',
    'a\u200bb\u2060c\ufeff\u00ad\u3164\ufe0f',
    '"a\\u{200b}b\\u{2060}c\\u{feff}\\u{ad}\\u{3164}\\u{fe0f}"',
  ],
  ['what looks like a space', 'a\u00a0b\u3000c\u2028', '"a\\u{a0}b\\u{3000}c\\u{2028}"'],
  ['marks of other scripts', 'a\ufff9\u0600', '"a\\u{fff9}\\u{600}"'],
  ['tags outside the basic plane', 'a\u{e0041}', '"a\\u{e0041}"'],
  ['half a character', 'a\ud800', '"a\\ud800"'],
  ['quotes and backslashes', '"\\', '"\\"\\\\"'],
  ['other scripts', 'Zoë 日本 🎉', '"Zoë 日本 🎉"'],
])('shows %s', (_, text, expected) => {
  expect(revealed(text)).toBe(expected);
});

it('tells words apart', () => {
  expect(revealedWords(['sh', '-c', 'rm -rf "$x"', ''])).toBe('sh -c "rm -rf \\"$x\\"" ""');
  expect(revealedWords(['a b', 'c'])).not.toBe(revealedWords(['a', 'b c']));
});

it('never shows two different texts alike', () => {
  const hostile = fc.string({
    unit: fc.constantFrom('a', '\\', 'u', '{', '}', '2', '0', 'e', '\u202e', '"', '\x1b'),
  });
  fc.assert(fc.property(hostile, hostile, (a, b) => (a === b) === (revealed(a) === revealed(b))));
});
