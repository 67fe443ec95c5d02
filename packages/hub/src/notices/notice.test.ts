import { describe, expect, it } from 'vitest';
import { noticeOf } from './notice.ts';
import { terminalNotice } from './terminal-notice.ts';

const place = { vendor: 'claude', title: 'claude --model opus', cwd: '/home/dev/shop' };
const asked = {
  paneId: 'pty_1',
  status: 'blocked',
  attention: true,
  reason: { kind: 'permission', tool: 'Bash', input: '{"command":"rm -rf build"}' },
} as const;

describe('noticeOf', () => {
  it('says who, where and why', () => {
    expect(noticeOf(asked, place)).toEqual({
      ...{ paneId: 'pty_1', status: 'blocked', title: 'claude waits for you' },
      body: 'permission: Bash rm -rf build · pty_1 in /home/dev/shop',
    });
    expect(noticeOf({ paneId: 'pty_1', status: 'done', attention: true }, place)).toMatchObject({
      title: 'claude is done',
      body: 'claude --model opus · pty_1 in /home/dev/shop',
    });
  });

  it('tells nobody who has it before them, nor of what needs nobody', () => {
    expect(noticeOf({ ...asked, attention: undefined }, place)).toBeUndefined();
    expect(noticeOf({ paneId: 'pty_1', status: 'running', attention: true }, place)).toBeUndefined();
  });

  it.each(['screen-256color', 'xterm-kitty', 'iTerm2 3.5', 'WezTerm', ''])(
    '%j takes no word for an order',
    (terminal) => {
      const reason = { kind: 'question', text: 'now\x07\x1b]52;c;ZXZpbA==\x07;x\u202e\x9b31m\n' } as const;
      const notice = noticeOf({ ...asked, reason }, { ...place, cwd: '/tmp/a\x1b\\b' });
      const told = terminalNotice(terminal, notice ?? { paneId: '', status: 'done', title: '', body: '' });
      // Its own beginning and end, and nothing else that acts.
      expect(told.match(/[\x00-\x1f\x7f-\x9f\u202e]/g)?.join('')).toMatch(/^(?:\x1b\x07|(?:\x1b\x1b){2})$/);
    },
  );
});

describe('terminalNotice', () => {
  const notice = { paneId: 'pty_1', status: 'done', title: 'claude is done', body: 'a; b' } as const;
  it.each([
    ['xterm-kitty', '\x1b]99;i=pty_1:d=0;claude is done\x1b\\\x1b]99;i=pty_1:p=body;a; b\x1b\\'],
    ['iTerm2 3.5', '\x1b]9;claude is done: a; b\x07'],
    ['xterm-256color', '\x1b]777;notify;claude is done;a, b\x07'],
  ])('speaks to %s in its own words, and once', (terminal, told) => {
    expect(terminalNotice(terminal, notice)).toBe(told);
  });
});
