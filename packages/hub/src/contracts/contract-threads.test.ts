import { setImmediate } from 'node:timers/promises';
import { afterAll, describe, expect, it } from 'vitest';
import { ContractThreads } from './contract-threads.ts';
import type { ContractDocument } from './document.ts';

const threads = new ContractThreads();
afterAll(() => threads.close());

const schema = (value: object): ContractDocument => ({ format: 'jsonschema', value: { ...value } });
/** Whoever reads this compares each name with every other. */
const endless = Array.from({ length: 80_000 }, (_, i) => `k${i}: 1`).join('\n');

describe('a contract', () => {
  it('is read from YAML, or told to be none, in words of one line', async () => {
    expect(await threads.readYaml('type: object\n# more\nproperties: {id: {type: string}}\n')).toEqual({
      document: schema({ type: 'object', properties: { id: { type: 'string' } } }),
    });
    expect(await threads.readYaml('a: [1\n')).toEqual({
      problem: expect.stringMatching(/^it is not YAML: .*$/),
    });
    expect(await threads.readYaml('type: 42')).toEqual({
      problem: expect.stringMatching(/^that is no JSON Schema: \/type must be of [^\n]*[^.]$/),
    });
  });

  it('of which a few names stand for far too many is refused', async () => {
    const names = 'bcdefghij'.split('').map((name, i, all) => {
      const before = i === 0 ? 'a' : all[i - 1];
      return `${name}: &${name} [${Array(9).fill(`*${before}`).join(', ')}]`;
    });
    expect(await threads.readYaml(['a: &a [x]', ...names].join('\n'))).toEqual({
      problem: expect.stringMatching(/^it is not YAML: Excessive alias count/),
    });
    const large = `default: &a "${'x'.repeat(50_000)}"\nexamples: [${Array(99).fill('*a').join(', ')}]`;
    expect(await threads.readYaml(large)).toEqual({ problem: expect.stringMatching(/bytes, and at most/) });
  });

  it('that takes too long is given up', async () => {
    const hasty = new ContractThreads(500);
    expect(await hasty.readYaml(endless)).toEqual({ problem: expect.stringMatching(/^it takes too long/) });
  });

  it('is given up when nobody waits any more', async () => {
    const closed = new ContractThreads();
    const reading = closed.readYaml(endless);
    closed.close();
    expect(await reading).toEqual({ problem: expect.stringMatching(/^it takes too long/) });
  });

  it('that is large is compared while others go on', async () => {
    const properties = (type: string) =>
      schema({
        properties: Object.fromEntries(Array.from({ length: 3000 }, (_, i) => [`p${i}`, { type }])),
      });
    const order: string[] = [];
    const compared = threads
      .diff(properties('string'), properties('number'))
      .then(({ breaking }) => order.push(`breaking: ${breaking}`));
    await setImmediate();
    order.push('others');
    await compared;
    expect(order).toEqual(['others', 'breaking: true']);
  });
});
