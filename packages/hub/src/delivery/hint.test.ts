import fc from 'fast-check';
import { expect, it } from 'vitest';
import { hintOf, mostHintBytes } from './hint.ts';

const anyText = fc.string({ unit: 'binary', maxLength: 300 });
const letter = fc.record({ seq: fc.integer({ min: 1, max: 2 ** 48 }), from: anyText, sentAt: fc.nat() });

it('names sender and recipient, and where to read', () => {
  const { text } = hintOf({ key: 'agt_1', name: 'alice' }, [{ seq: 7, from: 'agent:bob', sentAt: 0 }]);
  expect(text).toBe('New mail from agent:bob for alice: call get_inbox, or run: poly mail inbox [mail 7]');
});

it('tells of several messages at once', () => {
  const from = ['bob', 'bob', 'c', 'd', 'e', 'f', 'g'];
  const { text, mark } = hintOf(
    { key: 'agt_1', name: 'alice' },
    from.map((one, seq) => ({ seq, from: one, sentAt: 0 })),
  );
  expect(text).toContain('7 new messages from bob, c, d, e, f and 1 more for alice');
  expect(mark).toBe('[mail 6]');
});

it('is one line of plain text that no agent takes for a command, whatever names are', () => {
  fc.assert(
    fc.property(anyText, fc.array(letter, { minLength: 1, maxLength: 50 }), (name, waiting) => {
      const { text, mark, id } = hintOf({ key: 'agt_1', name }, waiting);
      expect(text).toMatch(
        /^(New mail|\d+ new messages) from [\p{L}\p{M}\p{N}._:@, -]+ for [\p{L}\p{M}\p{N}._:@-]+: call get_inbox/u,
      );
      expect(text).toMatch(/^[^\p{Cc}\p{Cs}`$;|&<>!/\\"']*$/u);
      expect(text.endsWith(mark)).toBe(true);
      expect(Buffer.byteLength(text)).toBeLessThanOrEqual(mostHintBytes);
      expect(id).toMatch(/^[0-9a-f]{26}$/);
    }),
  );
});
