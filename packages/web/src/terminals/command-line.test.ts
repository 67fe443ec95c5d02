import { describe, expect, it } from 'vitest';
import { commandLine } from './command-line.ts';

describe('a typed command line', () => {
  it.each([
    ['top', ['top']],
    ['  npm   test ', ['npm', 'test']],
    [`git commit -m "two words" 'and more'`, ['git', 'commit', '-m', 'two words', 'and more']],
    ['grep "" file', ['grep', '', 'file']],
    ['ls | wc -l', ['sh', '-c', 'ls | wc -l']],
    ['echo $HOME', ['sh', '-c', 'echo $HOME']],
    ['A=1 make', ['sh', '-c', 'A=1 make']],
    [`echo "it's"`, ['echo', `it's`]],
    [`echo it's`, ['sh', '-c', `echo it's`]],
    [`echo a"b c"d`, ['sh', '-c', `echo a"b c"d`]],
    ['', undefined],
  ])('%j is %j', (line, argv) => expect(commandLine(line)).toEqual(argv));
});
