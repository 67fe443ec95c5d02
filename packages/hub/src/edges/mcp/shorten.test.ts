import { expect, it } from 'vitest';
import { shorten } from './shorten.ts';

it('leaves alone what is short', () => {
  expect(shorten('a\nb', 3)).toBe('a\nb');
});

it('keeps the beginning and the end, and says how much was left out', () => {
  const text = `<pty_output>\n${'x'.repeat(1000)}\nthe end\n</pty_output>`;
  const short = shorten(text, 100);
  expect(short).toMatch(
    /^<pty_output>\n\(\d+ characters were left out here: .*\)\n…\| x+\nthe end\n<\/pty_output>$/,
  );
  const left = Number(/\((\d+) characters/.exec(short)?.[1]);
  expect(short.replace(/\(.*\)\n…\| /, '').length + left).toBe(text.length);
});

it('keeps all that stands before what was printed, such as how a program has ended', () => {
  const text = `Reason: exited\nexit_code: 7\nNext: 86894\n<tmux_output>\n${'12345\n'.repeat(1000)}</tmux_output>`;
  expect(shorten(text, 1000)).toMatch(/^Reason: exited\nexit_code: 7\nNext: 86894\n<tmux_output>\n/);
});

it('begins with a whole line where lines are short', () => {
  const lines = Array.from({ length: 100 }, (_, n) => `${n}| line`).join('\n');
  expect(shorten(lines, 200)).toMatch(/\)\n\d+\| line\n/);
});

it('copes with a text of one line', () => {
  expect(shorten('y'.repeat(10_000), 1000).length).toBeLessThan(1200);
});
