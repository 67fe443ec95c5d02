import { expect, it } from 'vitest';
import { LineSearch } from './line-search.ts';

const never = new AbortController().signal;
const many = [...Array.from({ length: 100_000 }, (_, at) => `line ${at} of many`), 'the last'];
const search = (pattern: string, ignore_case = false) => ({ pattern, ignore_case });

it.each([
  ['at once', new LineSearch({ atOnceMs: 10_000 })],
  ['on a thread', new LineSearch({ atOnceMs: 1, patienceMs: 60_000 })],
])('finds the lines of each terminal that match, %s', async (_, lines) => {
  const terminals = [many, [], ['LAST', 'İ']];
  expect(await lines.find(terminals, search('last$'), never)).toEqual([['the last'], [], []]);
  expect(await lines.find(terminals, search('last$', true), never)).toEqual([['the last'], [], ['LAST']]);
  expect(await lines.find(terminals, search('^line 9999\\d of'), never)).toEqual([
    many.slice(-11, -1),
    [],
    [],
  ]);
});

it('gives up a pattern that tries everything, and goes on with the next', async () => {
  const lines = new LineSearch({ atOnceMs: 1 });
  const endless = lines.find([[`${'a'.repeat(60)}!`]], search('^(a+)+$'), never);
  const next = lines.find([['a']], search('^(a+)+$'), never);
  await expect(endless).rejects.toMatchObject({ code: 'timed_out' });
  expect(await next).toEqual([['a']]);
});

it('ends with whoever asked', async () => {
  const lines = new LineSearch({ atOnceMs: 1 });
  const gone = new AbortController();
  const asked = lines.find([[`${'a'.repeat(60)}!`]], search('^(a+)+$'), gone.signal);
  gone.abort();
  await expect(asked).rejects.toMatchObject({ name: 'AbortError' });
});
