import { expect, it } from 'vitest';
import { answeredBy, lineOf } from './answer-line.ts';

const jsonrpc = '2.0';

it('a line of an answer says by its beginning which call it answers', () => {
  for (const id of [0, 12, 'a-1', '5'])
    for (const rest of [{ result: { text: '"id":7,"result":' } }, { error: { code: 1 } }]) {
      const line = lineOf({ ...rest, jsonrpc, id });
      expect(answeredBy(Buffer.from(line))).toBe(id);
      expect(line.indexOf('\n')).toBe(line.length - 1);
      expect(JSON.parse(line)).toEqual({ jsonrpc, id, ...rest });
    }
});

it('what is no answer, or has an id that would have to be read, does not', () => {
  for (const message of [
    { jsonrpc, method: 'notifications/progress', params: { id: 5, result: 1 } },
    { jsonrpc, id: 5, method: 'ping', result: 1 },
    { cursor: ['a', 1] },
    ...['é', 'a"b', 'a\\', '', 'x'.repeat(300), -1, 1.5, null].map((id) => ({ jsonrpc, id, result: {} })),
  ])
    expect([message, answeredBy(Buffer.from(lineOf(message)))]).toEqual([message, undefined]);
});
