import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { DetachKeys } from './detach-keys.ts';

const typed = (...chunks: string[]) => {
  const keys = new DetachKeys();
  let text = '';
  for (const chunk of chunks) {
    const taken = keys.take(chunk);
    text += taken.text;
    if (taken.detach) return { text, detach: true };
  }
  return { text, detach: false };
};

describe('the keys that leave a pane', () => {
  it('are Ctrl-b d, also when they come one by one', () => {
    expect(typed('ls\r\x02d')).toEqual({ text: 'ls\r', detach: true });
    expect(typed('ls', '\x02', 'd')).toEqual({ text: 'ls', detach: true });
  });

  it('type one Ctrl-b when it is pressed twice', () => {
    expect(typed('\x02\x02d')).toEqual({ text: '\x02d', detach: false });
  });

  it('are typed as they are before any other key', () => {
    expect(typed('\x02', 'x')).toEqual({ text: '\x02x', detach: false });
  });

  it('are known in the ways newer terminals say them', () => {
    expect(typed('\x1b[98;5u', '\x1b[100u').detach).toBe(true);
    expect(typed('\x1b[27;5;98~d').detach).toBe(true);
  });

  it('leave everything else alone, however it is cut', () => {
    const plain = fc.string().filter((text) => !text.includes('\x02') && !text.includes('\x1b'));
    fc.assert(fc.property(fc.array(plain), (chunks) => typed(...chunks).text === chunks.join('')));
  });
});
