import fc from 'fast-check';
import { expect, it } from 'vitest';
import { LineReader } from './line-reader.ts';

it('gives every line whole, however it came', () => {
  const line = fc.string({ unit: fc.constantFrom('a', 'é', '\r', '\u2028', '😀', '"') });
  fc.assert(
    fc.property(fc.array(line), line, fc.array(fc.nat(40)), (lines, rest, cuts) => {
      const all = Buffer.from([...lines.map((one) => `${one}\n`), rest].join(''));
      const heard: string[] = [];
      const reader = new LineReader((one) => heard.push(one.toString('utf8')));
      let left = 0;
      let at = 0;
      for (const cut of [...cuts, all.length]) {
        left = reader.push(all.subarray(at, at + cut));
        at = Math.min(at + cut, all.length);
      }
      expect(heard).toEqual(lines.map((one) => `${one}\n`));
      expect(left).toBe(Buffer.byteLength(rest));
    }),
  );
});
