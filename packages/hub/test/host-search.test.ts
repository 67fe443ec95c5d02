import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestHost, type TestHost } from './host-setup.ts';

/** Takes for ever on a long line of a's. */
const catastrophic = '(a+)+$';

describe('searching in the host', () => {
  let test: TestHost;

  beforeAll(async () => {
    test = await startTestHost();
  });
  afterAll(() => test[Symbol.asyncDispose]());

  const ended = async (script: string): Promise<string> => {
    const { id } = await test.open(['sh', '-c', `${script}; echo ended`]);
    await test.printed(id, 'ended');
    return id;
  };

  it('finds the newest lines that match, in the text as it is read', async () => {
    const id = await ended(`seq 1 9; printf '\\033[31mred 7\\033[0m\\n'`);
    expect(await test.host.search(id, { pattern: '7$' })).toMatchObject({
      matches: [
        { line: 9, text: 'red 7' },
        { line: 6, text: '7' },
      ],
      more: false,
      complete: true,
    });
    expect(await test.host.search(id, { pattern: '^\\d', limit: 2 })).toMatchObject({
      matches: [{ text: '9' }, { text: '8' }],
      more: true,
    });
    expect(await test.host.search(id, { pattern: '^\\d', limit: 2, before: 7 })).toMatchObject({
      matches: [{ text: '7' }, { text: '6' }],
    });
  });

  it('finds the first line behind a byte, and says where to go on', async () => {
    const id = await ended('echo one; echo two; printf "open two"');
    const first = await test.host.search(id, { pattern: 'two', from: 0, first: true });
    expect(first).toMatchObject({ matches: [{ line: 1, text: 'two', offset: 5 }], next: 10 });
    const second = await test.host.search(id, { pattern: 'two', from: first.next, first: true });
    expect(second).toMatchObject({ matches: [{ line: 2, text: 'open twoended' }] });
    const none = await test.host.search(id, { pattern: 'three', from: 0, first: true });
    expect(none).toMatchObject({ matches: [], complete: true, next: second.next });
  });

  it('says what is wrong with a regular expression, and takes harmless groups', async () => {
    const id = await ended('echo foo bar');
    const refused = (pattern: string) => expect(test.host.search(id, { pattern })).rejects;
    await refused('[').toMatchObject({
      code: 'invalid_parameters',
      message: '"[" is no regular expression: unterminated character class.',
    });
    await refused('(?<n>a)(?<n>b)').toMatchObject({ message: expect.stringContaining('duplicate capture') });
    for (const pattern of ['(?:foo)*bar(?:baz)*', '(a|b){2,}|foo', '(?<=foo )bar']) {
      expect((await test.host.search(id, { pattern })).matches).toHaveLength(1);
    }
    expect(await test.host.search(id, { pattern: '[', literal: true })).toMatchObject({ matches: [] });
  });

  it('gives up a pattern that takes for ever, while panes and other searches go on', async () => {
    const id = await ended(`echo aab; printf '%s!\\n' "$(head -c 50000 /dev/zero | tr '\\0' a)"`);
    const other = await test.open(['cat']);
    let cut = 0;
    const slow = Promise.all(
      Array.from({ length: 4 }, async () => {
        expect(await test.host.search(id, { pattern: catastrophic })).toMatchObject({ complete: false });
        cut++;
      }),
    );
    const quick = test.host.search(id, { pattern: 'aab', literal: true });
    await test.host.write(other.id, Buffer.from('typed meanwhile\r'));
    await test.printed(other.id, 'typed meanwhile');
    expect((await test.host.read(other.id)).bytes.toString()).toContain('typed meanwhile');
    expect(cut).toBe(0);
    expect(await quick).toMatchObject({ matches: [{ text: 'aab' }], complete: true });
    await slow;
    expect(await test.host.search(id, { pattern: 'aab' })).toMatchObject({ complete: true });
  });
});
