import { describe, expect, it } from 'vitest';
import { AlternateScreen, cleanUp, withoutQuestions } from './replay.ts';

describe('old output that is shown again', () => {
  it.each([
    '\x1b[c',
    '\x1b[>c',
    '\x1b[0c',
    '\x1b[6n',
    '\x1b[?6n',
    '\x1b[>q',
    '\x1b[?u',
    '\x1b[?2026$p',
    '\x1b]11;?\x07',
    '\x1b]4;1;?\x1b\\',
    '\x1bP+q544e\x1b\\',
  ])('asks the terminal nothing: %j', (question) => {
    expect(withoutQuestions(Buffer.from(`a${question}b`)).toString()).toBe('ab');
  });

  it('keeps colours, moves and text of any script', () => {
    const text = '\x1b[1;31mé漢\x1b[m\x1b[2;5H\x1b]0;title\x07\x1b[?25l';
    expect(withoutQuestions(Buffer.from(text)).toString()).toBe(text);
  });

  it('tells whether the alternate screen is on, also when the switch is cut in two', () => {
    const screen = new AlternateScreen(false);
    screen.see(Buffer.from('x\x1b[?10'));
    screen.see(Buffer.from('49h'));
    expect(screen.on).toBe(true);
    screen.see(Buffer.from('\x1b[?1049l'));
    expect(screen.on).toBe(false);
  });

  it('leaves the alternate screen only when it was entered', () => {
    expect(cleanUp(true)).toContain('\x1b[?1049l');
    expect(cleanUp(false)).not.toContain('\x1b[?1049l');
  });
});
