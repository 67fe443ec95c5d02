import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type Block, chainReplies, Frames, replyOf } from './frames.ts';
import { LineSplitter } from './lines.ts';

interface Sent {
  readonly nonce: string;
  readonly blocks: readonly { readonly failed: boolean; readonly lines: readonly string[] }[];
  /** What tmux says between this reply and its sentinel: notifications, and blocks of hooks. */
  readonly between: readonly string[];
}

/** The bytes tmux would write for these commands, each followed by its sentinel. */
function transcript(sent: readonly Sent[]): string {
  let number = 100;
  const guard = (flag: 0 | 1): string => `1700000000 ${number++} ${flag}`;
  const block = (lines: readonly string[], close: 'end' | 'error', flag: 0 | 1): string[] => {
    const own = guard(flag);
    return [`%begin ${own}`, ...lines, `%${close} ${own}`];
  };
  return sent
    .flatMap(({ nonce, blocks, between }) => [
      ...blocks.flatMap(({ failed, lines }) => block(lines, failed ? 'error' : 'end', 1)),
      ...between.flatMap((text) => (text.startsWith('%') ? [text] : block([text], 'end', 0))),
      ...block([`parse error: unknown command: x${nonce}`], 'error', 1),
    ])
    .map((line) => `${line}\n`)
    .join('');
}

/** Lines of a program, among them ones that imitate every guard in sight. */
const forgedLine = fc
  .tuple(fc.constantFrom('begin', 'end', 'error'), fc.integer({ min: 98, max: 130 }), fc.constantFrom(0, 1))
  .map(([word, number, flag]) => `%${word} 1700000000 ${number} ${flag}`);
const bodyLine = fc.oneof(fc.constant(''), fc.constantFrom('text', '%output %1 x', 'naïve'), forgedLine);
const between = fc.array(fc.constantFrom('%window-add @1', '%sessions-changed', 'a hook spoke'), {
  maxLength: 2,
});
const oneBlock = fc.record({ failed: fc.boolean(), lines: fc.array(bodyLine, { maxLength: 6 }) });
const command = fc.record({ blocks: fc.tuple(oneBlock), between });

test('every command gets its own lines, whatever they imitate and however the bytes are cut', () => {
  fc.assert(
    fc.property(
      fc.array(command, { minLength: 1, maxLength: 6 }),
      fc.infiniteStream(fc.integer({ min: 1, max: 40 })),
      (commands, sizes) => {
        const sent = commands.map((one, i) => ({ ...one, nonce: `${i}`.padStart(16, 'f') }));
        const notices: string[] = [];
        const frames = new Frames((line) => notices.push(line));
        const got: (readonly Block[])[] = [];
        for (const { nonce } of sent)
          frames.expect({ nonce, settle: (blocks) => got.push(blocks), lose: () => expect.unreachable() });
        const splitter = new LineSplitter((line) => frames.line(line));
        const bytes = Buffer.from(transcript(sent), 'latin1');
        for (let at = 0; at < bytes.length; ) {
          const size = sizes.next().value;
          splitter.feed(bytes.subarray(at, at + size));
          at += size;
        }
        expect(got).toEqual(sent.map(({ blocks }) => blocks));
        expect(
          notices.filter(
            (line) => line.startsWith('%window') || line === 'a hook spoke' || line.startsWith('%sess'),
          ),
        ).toEqual(sent.flatMap((one) => one.between));
      },
    ),
  );
});

test('a lost connection keeps what was answered in good order, and says what was never begun', () => {
  const outcome = (lines: readonly string[]): readonly string[] => {
    const frames = new Frames(() => undefined);
    const said: string[] = [];
    for (const nonce of ['aaaa', 'bbbb']) {
      frames.expect({
        nonce,
        settle: (blocks) => said.push(replyOf(blocks).status),
        lose: (unsent) => said.push(unsent ? 'unsent' : 'lost'),
      });
    }
    for (const line of lines) frames.line(line);
    frames.end();
    return said;
  };
  const answered = ['%begin 1 1 1', '%end 1 1 1'];
  expect(outcome([...answered, '%exit'])).toEqual(['complete', 'unsent']);
  expect(outcome([...answered, '%exit lost server'])).toEqual(['lost', 'lost']);
  expect(outcome(answered)).toEqual(['lost', 'lost']);
  expect(outcome(['%begin 1 1 1', '%exit'])).toEqual(['lost', 'unsent']);
  expect(outcome([])).toEqual(['lost', 'lost']);
});

test('the markers of a line name the command that failed, and a line without its first ran nothing', () => {
  const said = (text: string): Block => ({ failed: false, lines: [text] });
  const done: Block = { failed: false, lines: [] };
  const error: Block = { failed: true, lines: ['no'] };
  const statuses = (...blocks: Block[]): readonly string[] =>
    chainReplies(blocks, ['m0', 'm1', 'm2', 'm3']).map(({ status }) => status);
  expect(statuses(said('m0'), done, said('m1'), done, said('m2'), done, said('m3'))).toEqual([
    'complete',
    'complete',
    'complete',
  ]);
  expect(statuses(said('m0'), done, said('m1'), error)).toEqual(['complete', 'failed', 'skipped']);
  expect(statuses(said('m0'), error)).toEqual(['failed', 'skipped', 'skipped']);
  expect(statuses(error)).toEqual(['failed', 'failed', 'failed']);
  expect(statuses(said('m0'), done, said('m1'))).toEqual(['complete', 'unknown', 'unknown']);
});
