import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { harmless, harmlessLines } from './harmless.ts';

describe('text of others', () => {
  it('shows control and direction characters instead of obeying them', () => {
    expect(harmless('a\x1b]0;x\x07b\u202egpj.exe')).toBe('a^[]0;x^Gb\\u202egpj.exe');
  });

  it('shows what is written in letters that nobody can see', () => {
    expect(harmless('ok\u{e0068}\u{e0069}')).toBe('ok\\u{e0068}\\u{e0069}');
  });

  it('keeps its lines where they are meant', () => {
    expect(harmlessLines('one\r\ntwo\x1b[2J\n\n\tthree\rX')).toBe('one\ntwo^[[2J\n\n three^MX');
  });

  it('keeps every script as it is', () => {
    expect(harmless('Grüße, 漢字, שלום, 🙂')).toBe('Grüße, 漢字, שלום, 🙂');
  });

  it('never holds a character that acts', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'binary' }),
        (text) => !/[\p{Cc}\u202a-\u202e\u2066-\u2069]/u.test(harmless(text)),
      ),
    );
  });
});
