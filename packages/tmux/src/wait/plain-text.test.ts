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

test('gives the same text however the bytes are cut', () => {
  const pieces = fc.array(
    fc.oneof(
      fc.string({ unit: 'grapheme', maxLength: 5 }).map((text) => text.replace(/\p{Cc}/gu, '')),
      fc.constantFrom('\u001b[31m', '\u001b]2;t\u0007', '\r\n', 'é🎉', '\u001b[?2004h'),
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
      // A carriage return at the very end of a chunk is kept back as text, so both are compared without them.
      expect(text.replaceAll('\r', '')).toBe(whole.feed(bytes).replaceAll('\r', ''));
    }),
  );
});
