import fc from 'fast-check';
import { expect, test } from 'vitest';
import { markedChain } from './chain.ts';

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
  const replies = markedChain(commands).split('', 'unknown command: x\n', true);
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
      const replies = chain.split(printed(chain.argvs, texts, ended), failed ? 'no' : '', failed);
      expect(replies.map(({ status }) => status)).toEqual(
        texts.map((_, i) => (i < ended ? 'complete' : i === ended ? 'failed' : 'skipped')),
      );
      expect(replies.slice(0, ended).map(({ stdout }) => stdout)).toEqual(texts.slice(0, ended));
    }),
  );
});

test('a line that did not fail is complete even when the server took the last markers with it', () => {
  const chain = markedChain([['kill-session'], ['kill-server']]);
  const replies = chain.split(printed(chain.argvs, ['', ''], 0), '', false);
  expect(replies.map(({ status }) => status)).toEqual(['complete', 'complete']);
});

test('a failure that stopped nothing is given to the command that can fail late', () => {
  const chain = markedChain([['set-buffer'], ['load-buffer'], ['set-buffer']]);
  const replies = chain.split(printed(chain.argvs, [], 3), '/none: No such file or directory\n', true);
  expect(replies.map(({ status }) => status)).toEqual(['complete', 'failed', 'complete']);
});

test('an empty chain answers nothing', () => {
  expect(markedChain([]).split('', '', true)).toEqual([]);
});
