import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { cleanText, compose } from './compose.ts';
import type { VendorName } from './vendors/vendor.ts';

const names: readonly VendorName[] = ['claude', 'codex', 'opencode', 'gemini', 'generic'];
const vendor = fc.constantFrom(...names);
/** Any text at all, with what terminals and agents obey more often than chance would. */
const text = fc
  .array(
    fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.constantFrom(
        '!',
        '/',
        '@',
        '\\',
        '\u001b[201~',
        '\r',
        '\n',
        '\t',
        '\u202e',
        '\u200b',
        '\u009b',
        '\ud800',
        ' ',
      ),
      fc.constantFrom(
        'exit',
        ':q',
        'ls',
        '\u0003',
        '\u0004',
        '\u0085',
        '\u2028',
        '\u{e0041}',
        '\u00a0',
        '\u3000',
      ),
    ),
  )
  .map((parts) => parts.join(''))
  .filter((made) => cleanText(made) !== '');

describe('compose', () => {
  it('types nothing a terminal obeys but the marks of one paste', () => {
    fc.assert(
      fc.property(vendor, text, fc.boolean(), (name, said, bracketedPaste) => {
        const { paste, text: told } = compose(name, said, { bracketedPaste });
        expect(paste).toBe(bracketedPaste ? `\u001b[200~${told}\u001b[201~` : told);
        expect(told).not.toMatch(/(?![\t\n])\p{Cc}/u);
        expect(told).not.toMatch(/[\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff\u{e0000}-\u{e007f}]/u);
        expect(told.isWellFormed()).toBe(true);
      }),
    );
  });

  it('is one line unless pastes are known to be marked', () => {
    fc.assert(
      fc.property(vendor, text, (name, said) => {
        expect(compose(name, said, { bracketedPaste: false }).paste).not.toMatch(/[\n\t]/);
      }),
    );
    expect(compose('generic', 'a\n\tb').paste).toBe('a b ');
    expect(compose('claude', 'a\r\nb\rc').text).toBe('a\nb\nc ');
  });

  it('never starts as a command, not even behind spaces, and ends with a space', () => {
    fc.assert(
      fc.property(vendor, text, (name, said) => {
        const { text: told } = compose(name, said);
        expect(told).toMatch(/^[^\s!/@#:?$&%>\\]/);
        expect(told).toMatch(/[^\s] $/);
        expect(told.trim()).not.toMatch(/^(?:exit|quit)$/i);
      }),
    );
  });

  it('changes nothing about a message it has made safe already', () => {
    fc.assert(
      fc.property(vendor, text, (name, said) => {
        const { text: told } = compose(name, said);
        expect(compose(name, told).text).toBe(told);
      }),
    );
  });

  it.each([
    ['claude', 'Fix the tests, please.', 'Fix the tests, please. '],
    ['claude', ' !rm -rf x', 'Message: !rm -rf x '],
    ['claude', '/clear', 'Message: /clear '],
    ['claude', 'exit', 'Message: exit '],
    ['claude', 'see @notes.txt, ask bob@example.com', 'see \\@notes.txt, ask bob@example.com '],
    ['gemini', 'ask bob@example.com', 'ask bob\\@example.com '],
    ['codex', 'use $imagegen', 'use $imagegen '],
    ['opencode', ':q', 'Message: :q '],
    ['gemini', 'a path\\', 'a path\\ '],
    ['claude', '👍🏽 done ✔️', '👍🏽 done ✔️ '],
    ['claude', 'سلام', 'سلام '],
    ['claude', 'a\u202eb\u200bc\u001b[31md', 'abc[31md '],
  ] as const)('tells %s %j as %j', (name, said, told) => {
    expect(compose(name, said).text).toBe(told);
  });

  it('sends Enter apart, and gives Gemini longer before it', () => {
    expect(compose('claude', 'x')).toMatchObject({ enter: '\r', pauseMs: 50 });
    expect(compose('gemini', 'x').pauseMs).toBeGreaterThan(100);
  });

  it('refuses a message with nothing to see', () => {
    expect(() => compose('claude', ' \u200b\u0007\n')).toThrow('nothing that can be typed');
  });
});
