import { describe, expect, it } from 'vitest';
import { Conversation, type Message } from './conversation.ts';

const line = (message: Message): Buffer => Buffer.from(`${JSON.stringify(message)}\n`);
const initialize: Message = { id: 0, method: 'initialize' };
const initialized: Message = { method: 'notifications/initialized' };
const call = (id: number, name: string): Message => ({ id, method: 'tools/call', params: { name } });

/** A conversation that has begun; nobody has listed the tools. */
function begun(): Conversation {
  const conversation = new Conversation();
  for (const message of [initialize, initialized]) conversation.say(line(message), message);
  conversation.know(['look']);
  conversation.hear({ id: 0 });
  return conversation;
}

describe('a conversation whose hub is another all of a sudden', () => {
  it('begins again as it began, and keeps the second answer to itself', () => {
    const conversation = begun();
    conversation.lose();
    expect(conversation.resume()).toEqual([line(initialize), line(initialized)]);
    expect(conversation.hear({ id: 0 })).toBe(false);
    expect(conversation.hear({ id: 2 })).toBe(true);
  });

  it('asks again for what only looks, and never for what changes something', () => {
    const conversation = begun();
    for (const message of [call(2, 'look'), call(3, 'change'), call(4, 'unheard-of')])
      conversation.say(line(message), message);
    expect(conversation.lose()).toEqual([
      { id: 3, tool: 'change' },
      { id: 4, tool: 'unheard-of' },
    ]);
    expect(conversation.resume()).toEqual([line(initialize), line(initialized), line(call(2, 'look'))]);
    expect(conversation.isIdle).toBe(false);
    expect(conversation.hear({ id: 2 })).toBe(true);
    expect(conversation.isIdle).toBe(true);
  });

  it('asks no more for what nobody wants any longer, and waits for no answer to it', () => {
    const conversation = begun();
    conversation.say(line(call(2, 'look')), call(2, 'look'));
    const cancelled = { method: 'notifications/cancelled', params: { requestId: 2 } };
    conversation.say(line(cancelled), cancelled);
    expect(conversation.isIdle).toBe(true);
    expect(conversation.lose()).toEqual([]);
    expect(conversation.resume()).toEqual([line(initialize), line(initialized)]);
  });

  it('asks for the first answer once more if it never came', () => {
    const conversation = new Conversation();
    conversation.say(line(initialize), initialize);
    expect(conversation.resume()).toEqual([line(initialize)]);
    expect(conversation.hear({ id: 0 })).toBe(true);
  });

  it('says who waits in vain when there will be no other', () => {
    const conversation = begun();
    conversation.say(line(call(5, 'look')), call(5, 'look'));
    const list = { id: 6, method: 'tools/list' };
    conversation.say(line(list), list);
    expect(conversation.giveUp()).toEqual([
      { id: 5, isCall: true },
      { id: 6, isCall: false },
    ]);
    expect(conversation.isIdle).toBe(true);
  });
});
