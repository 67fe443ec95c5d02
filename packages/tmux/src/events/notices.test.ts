import { expect, test } from 'vitest';
import type { TmuxEvent } from './event.ts';
import { createNoticeReader } from './notices.ts';

function reader(): { read: (line: string) => void; events: TmuxEvent[]; wait: (ms: number) => void } {
  const events: TmuxEvent[] = [];
  let now = 0;
  const read = createNoticeReader(
    (event) => events.push(event),
    () => true,
    () => now,
  );
  const wait = (ms: number): void => {
    now += ms;
  };
  return { read, events, wait };
}

test('the block of a hook is one event, whatever stands in it', () => {
  const { read, events } = reader();
  for (const line of ['%begin 1 2 0', 'na\u00c3\u00afve', '%window-add @1', '%error 1 2 0']) read(line);
  expect(events).toEqual([{ type: 'unsolicited', lines: ['naïve', '%window-add @1'], failed: true }]);
});

test('a block that does not end in time was none, and no event in it is lost', () => {
  const { read, events, wait } = reader();
  for (const line of ['%begin 1 2 0', '%window-add @1', '%window-add @2']) read(line);
  expect(events).toEqual([]);
  wait(1_001);
  read('%window-add @3');
  expect(events).toMatchObject(['@1', '@2', '@3'].map((windowId) => ({ type: 'window-add', windowId })));
});
