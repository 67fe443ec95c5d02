import fc from 'fast-check';
import { expect, test } from 'vitest';
import { markedChain, markedCommand } from './chain.ts';

const commands = [['rename-session', 'a'], ['show-buffer'], ['kill-pane']];

/** What tmux prints when each command prints its text and the line stops after `ended` of them. */
function printed(argvs: readonly (readonly string[])[], texts: readonly string[], ended: number): string {
  const guards = argvs.filter(([name]) => name === 'display-message').map((argv) => `${argv[2]}\n`);
  return guards
    .slice(0, ended + 1)
    .map((guard, i) => (i === 0 ? guard : (texts[i - 1] ?? '') + guard))
    .join('');
}

test('a line that could not be parsed fails every command with the same text', () => {
  const replies = markedChain(commands).read({ code: 1, stdout: '', stderr: 'unknown command: x\n' });
  expect(replies).toEqual(
    commands.map(() => ({ status: 'failed', stdout: '', stderr: 'unknown command: x\n' })),
  );
});

test('each command gets its own output, whatever it printed and wherever the line stopped', () => {
  fc.assert(
    fc.property(fc.array(fc.string({ unit: 'binary' })), fc.nat(), (texts, stop) => {
      const chain = markedChain(texts.map(() => ['show-buffer']));
      const ended = Math.min(stop, texts.length);
      const failed = ended < texts.length;
      const replies = chain.read({
        code: Number(failed),
        stdout: printed(chain.argvs, texts, ended),
        stderr: failed ? 'no' : '',
      });
      expect(replies.map(({ status }) => status)).toEqual(
        texts.map((_, i) => (i < ended ? 'complete' : i === ended ? 'failed' : 'skipped')),
      );
      expect(replies.slice(0, ended).map(({ stdout }) => stdout)).toEqual(texts.slice(0, ended));
    }),
  );
});

test('a line that did not fail is complete even when the server took the last markers with it', () => {
  const chain = markedChain([['kill-session'], ['kill-server']]);
  const replies = chain.read({ code: 0, stdout: printed(chain.argvs, ['', ''], 0), stderr: '' });
  expect(replies.map(({ status }) => status)).toEqual(['complete', 'complete']);
});

test('a failure that stopped nothing is given to the command that can fail late', () => {
  const chain = markedChain([['set-buffer'], ['load-buffer'], ['set-buffer']]);
  const replies = chain.read({
    code: 1,
    stdout: printed(chain.argvs, [], 3),
    stderr: '/none: No such file or directory\n',
  });
  expect(replies.map(({ status }) => status)).toEqual(['complete', 'failed', 'complete']);
});

test('an empty chain answers nothing', () => {
  expect(markedChain([]).read({ code: 1, stdout: '', stderr: '' })).toEqual([]);
});

test('a line that ran to its end is complete, whatever a hook said of itself', () => {
  const answer = { code: 1, stderr: "can't find pane: %999\n" };
  const chain = markedChain(commands);
  const all = chain.read({ ...answer, stdout: printed(chain.argvs, ['', 'b', ''], 3) });
  expect(all.map(({ status, stderr }) => [status, stderr])).toEqual(commands.map(() => ['complete', '']));
  const one = markedCommand({ argv: ['rename-window', 'a'] });
  const guard = one.argvs[1]?.[2];
  expect(one.read({ ...answer, stdout: `said\n${guard}\n` })).toEqual({
    status: 'complete',
    stdout: 'said\n',
    stderr: '',
  });
  expect(one.read({ ...answer, stdout: '' })).toEqual({
    status: 'failed',
    stdout: '',
    stderr: answer.stderr,
  });
});

test('a command that may fail late or waits in a process of its own gets no marker', () => {
  for (const name of ['load-buffer', 'load-b', 'loadb', 'run', 'if', 'if-shell'])
    expect(markedCommand({ argv: [name] }).argvs, name).toEqual([[name]]);
  expect(markedCommand({ argv: ['wait-for', 'x'], ownProcess: true }).argvs).toHaveLength(1);
});
