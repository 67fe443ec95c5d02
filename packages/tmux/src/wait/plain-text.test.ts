import fc from 'fast-check';
import { expect, test } from 'vitest';
import { PlainText } from './plain-text.ts';

test('drops colours, titles and other sequences, and keeps text, tabs and newlines', () => {
  const plain = new PlainText();
  const bytes = Buffer.from(
    '\u001b[1;31mred\u001b[0m\ttab\r\n\u001b]0;a title\u0007next\u001b(B \u001bP1$r0m\u001b\\end',
  );
  expect(plain.feed(bytes)).toBe('red\ttab\nnext end');
});

test('gives one newline for the return and newline of a terminal, also when a chunk ends between them', () => {
  const plain = new PlainText();
  expect(['a\r', '\nb\r\u001b[', 'K\r', '\nc\r', 'd'].map((text) => plain.feed(Buffer.from(text)))).toEqual([
    'a',
    '\nb',
    '',
    '\nc',
    '\rd',
  ]);
});

test('drops the sequences of one 8-bit character too', () => {
  const text = 'a\u009b1;31mb\u009b?2004hc\u009d0;title\u009cd\u0090q\u001b\\e\u0085f';
  expect(new PlainText().feed(Buffer.from(text))).toBe('abcdef');
});

test('gives the same text however the bytes are cut', () => {
  const pieces = fc.array(
    fc.oneof(
      fc.string({ unit: 'grapheme', maxLength: 5 }).map((text) => text.replace(/\p{Cc}/gu, '')),
      fc.constantFrom(
        ...['\u001b[31m', '\u001b]2;t\u0007', '\u001b[?2004h', '\u009b1;2m', '\u009d2;t\u009c'],
        ...['\r\n', '\r', '\n', '\r\r\n', '\0', 'é🎉'],
      ),
    ),
    { maxLength: 20 },
  );
  fc.assert(
    fc.property(pieces, fc.array(fc.nat(200), { maxLength: 8 }), (parts, cuts) => {
      const bytes = Buffer.from(parts.join(''));
      const at = [...new Set([0, ...cuts.map((cut) => cut % (bytes.length + 1)), bytes.length])].sort(
        (a, b) => a - b,
      );
      const split = new PlainText();
      const whole = new PlainText();
      const text = at
        .slice(1)
        .map((end, i) => split.feed(bytes.subarray(at[i], end)))
        .join('');
      expect(text).toBe(whole.feed(bytes));
    }),
  );
});
