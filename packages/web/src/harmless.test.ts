import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { harmless } from './harmless.ts';

describe('text of others', () => {
  it('shows control and direction characters instead of obeying them', () => {
    expect(harmless('a\x1b]0;x\x07b\u202egpj.exe')).toBe('a^[]0;x^Gb\\u202egpj.exe');
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
