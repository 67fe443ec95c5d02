import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { TerminalQuestions } from './terminal-questions.ts';

const asked = ['c', '0c', '>c', '=c', '6n', '?6n', '5n', '?25$p', '4$p', '>q'].map((rest) => `\x1b[${rest}`);
const questions = [...asked, '\x1bP$qm', '\x1bP+q544e', '\x1b]11;?\x07', '\x1b]4;3;?\x1b\\'];
const others = [
  '\x1b[31m',
  '\x1b[2J\x1b[H',
  '\x1b[?25h',
  '\x1b]0;c 6n\x07',
  '\x1b]8;;x\x07',
  'c6n',
  '[c',
  '\x1b',
  '',
];

describe('a question to a terminal', () => {
  test.each(questions)('is found in %j, however it comes, with the place where it begins', (text) => {
    const before = 'text \x1b[1mbold';
    for (let cut = 0; cut < text.length; cut++) {
      const finder = new TerminalQuestions();
      const found = [`${before}${text.slice(0, cut)}`, `${text.slice(cut)} after`].map((part) =>
        finder.find(Buffer.from(part)),
      );
      const places = found.flatMap((asked, index) =>
        asked.map(({ back }) =>
          index === 0 ? before.length + cut - back : before.length + text.length + 6 - back,
        ),
      );
      expect(places).toEqual([before.length]);
    }
  });

  test('is found beside others, each as a terminal would have to be asked it', () => {
    const text = 'one\x1b[6n two\x1b[31m\x1b]11;?\x07three \x1bP$qm\x1b\\ \x1b[>0q';
    expect(new TerminalQuestions().find(Buffer.from(text)).map((question) => question.text)).toEqual([
      ...['\x1b[6n', '\x1b]11;?\x07', '\x1bP$qm\x1b\\', '\x1b[>0q'],
    ]);
  });

  test('is not found where none is', () => {
    const finder = new TerminalQuestions();
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...others.map((text) => `${text} `))), (texts) => {
        for (const text of texts) expect(finder.find(Buffer.from(text))).toEqual([]);
      }),
    );
  });
});
