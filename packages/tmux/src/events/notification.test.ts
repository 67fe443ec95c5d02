import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parseNotification } from './notification.ts';

/** As tmux writes the bytes of a pane: below 0x20 and the backslash in octal, all others raw. */
function escaped(bytes: Uint8Array): string {
  return [...bytes]
    .map((byte) =>
      byte < 32 || byte === 92 ? `\\${byte.toString(8).padStart(3, '0')}` : String.fromCharCode(byte),
    )
    .join('');
}

test('output of any bytes comes back as those bytes, also in its extended form', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 300 }), fc.nat(5000), (bytes, age) => {
      const plain = parseNotification(`%output %7 ${escaped(bytes)}`);
      expect(plain).toEqual({ type: 'output', paneId: '%7', data: Buffer.from(bytes), ageMs: 0 });
      const extended = parseNotification(`%extended-output %7 ${age} some new fields : ${escaped(bytes)}`);
      expect(extended).toEqual({ type: 'output', paneId: '%7', data: Buffer.from(bytes), ageMs: age });
    }),
  );
});

test.each([
  ['%window-renamed @3 two words', { type: 'window-renamed', windowId: '@3', name: 'two words' }],
  ['%session-renamed $2 new name', { type: 'session-renamed', sessionId: '$2', name: 'new name' }],
  ['%session-renamed old form', { type: 'session-renamed', sessionId: null, name: 'old form' }],
  ['%session-changed $1 a b', { type: 'session-changed', sessionId: '$1', name: 'a b' }],
  [
    '%client-session-changed client-9 $1 a b',
    { type: 'client-session-changed', client: 'client-9', sessionId: '$1', name: 'a b' },
  ],
  ['%sessions-changed', { type: 'sessions-changed' }],
  ['%exit', { type: 'exit', reason: '' }],
  ['%exit too far behind', { type: 'exit', reason: 'too far behind' }],
  ['%pause %4', { type: 'pause', paneId: '%4' }],
  [
    '%layout-change @1 abcd,80x24,0,0,0 abcd,80x24,0,0,0 *',
    {
      type: 'layout-change',
      windowId: '@1',
      layout: 'abcd,80x24,0,0,0',
      visibleLayout: 'abcd,80x24,0,0,0',
      flags: '*',
    },
  ],
  [
    '%subscription-changed cmd $1 @2 0 %3 : a : b',
    {
      type: 'subscription-changed',
      name: 'cmd',
      sessionId: '$1',
      windowId: '@2',
      windowIndex: 0,
      paneId: '%3',
      value: 'a : b',
    },
  ],
  [
    '%subscription-changed cmd $1 - - - : x',
    {
      type: 'subscription-changed',
      name: 'cmd',
      sessionId: '$1',
      windowId: null,
      windowIndex: null,
      paneId: null,
      value: 'x',
    },
  ],
  ['%paste-buffer-changed buffer0', { type: 'paste-buffer-changed', name: 'buffer0' }],
  ['%something-new 1 2', { type: 'unknown', line: '%something-new 1 2' }],
])('%s is read', (line, event) => {
  expect(parseNotification(line)).toEqual(event);
});
