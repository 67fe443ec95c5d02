import fc from 'fast-check';
import { expect, it } from 'vitest';
import { decodeEscapes } from './decode-escapes.ts';

const text = (data: string): string => Buffer.from(decodeEscapes(data)).toString();

it.each([
  [String.raw`a\nb\rc\td`, 'a\nb\rc\td'],
  [String.raw`\e[A\0`, '\x1b[A\0'],
  [String.raw`\x03\u00e9\ud83d\ude00`, '\x03é😀'],
  [String.raw`\\n`, String.raw`\n`],
  [String.raw`C:\Users \q \x4 \u12 \ `, String.raw`C:\Users \q \x4 \u12 \ `],
  ['\\', '\\'],
  ['a real\nnewline', 'a real\nnewline'],
])('reads %j', (given, typed) => {
  expect(text(given)).toBe(typed);
});

it('types one byte for \\xNN, whatever it is', () => {
  expect([...decodeEscapes(String.raw`é\xe9\xff`)]).toEqual([0xc3, 0xa9, 0xe9, 0xff]);
});

it('gives every text back whose backslashes were doubled, and every byte that was written down', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), (given) => {
      expect(text(given.replaceAll('\\', '\\\\'))).toBe(given);
    }),
  );
  fc.assert(
    fc.property(fc.uint8Array(), (bytes) => {
      const escaped = [...bytes].map((byte) => `\\x${byte.toString(16).padStart(2, '0')}`).join('');
      expect(decodeEscapes(escaped)).toEqual(bytes);
    }),
  );
});

it('leaves alone what has no backslash', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), (given) => {
      const plain = given.replaceAll('\\', '');
      expect(text(plain)).toBe(plain);
    }),
  );
});
