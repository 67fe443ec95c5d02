import { expect, it } from 'vitest';
import type { OpenCodeEvent } from './opencode.ts';
import { WhatWasSaid } from './what-was-said.ts';

const event = (type: string, properties: OpenCodeEvent['properties']): OpenCodeEvent => ({
  type,
  properties,
});
const begins = (id: string, more: object = {}) =>
  event('message.updated', { info: { id, role: 'assistant', sessionID: 's', ...more } });
const text = (id: string, words: string, messageID: string, end?: number) =>
  event('message.part.updated', {
    part: {
      id,
      type: 'text',
      text: words,
      sessionID: 's',
      messageID,
      time: end === undefined ? {} : { end },
    },
  });
const idle = event('session.idle', { sessionID: 's' });

it('tells each text of an answer once it is whole, and the last with the end of the turn, once', () => {
  const said = new WhatWasSaid();
  expect(said.hear(text('p0', 'what the user said', 'm0', 1))).toBeUndefined();
  said.hear(begins('m1'));
  expect(said.hear(text('p1', 'I look', 'm1'))).toBeUndefined();
  expect(said.hear(text('p1', 'I look around.', 'm1', 1))).toEqual({
    ...{ sessionID: 's', part: { id: 'p1', text: 'I look around.' } },
  });
  expect(said.hear(text('p1', 'I look around.', 'm1', 1))).toBeUndefined();
  said.hear(begins('m2'));
  said.hear(text('p2', 'All is well.', 'm2', 2));
  expect(said.hear(idle)).toEqual({ text: 'All is well.' });
  expect(said.hear(idle)).toEqual({});
});

it('has no answer of a turn that was broken off or has failed, whatever is still told of it', () => {
  const said = new WhatWasSaid();
  said.hear(begins('m1'));
  expect(said.hear(event('session.error', { sessionID: 's' }))).toEqual({});
  said.hear(begins('m1', { error: { name: 'MessageAbortedError' }, time: { completed: 1 } }));
  expect(said.hear(text('p1', 'I am at', 'm1', 1))).toBeUndefined();
  expect(said.hear(idle)).toEqual({});
});

it('says with a reply what was asked for', () => {
  const said = new WhatWasSaid();
  const asked = { id: 'per_1', permission: 'bash', patterns: ['ls'] };
  expect(said.hear(event('permission.asked', asked))).toEqual({});
  const reply = event('permission.replied', { requestID: 'per_1' });
  expect(said.hear(reply)).toEqual({ asked });
  expect(said.hear(reply)).toEqual({});
});
