import fc from 'fast-check';
import { expect, test } from 'vitest';
import { chainReplies, type Frame, Frames, readFrame, replyOf } from './frames.ts';
import { LineSplitter } from './lines.ts';

interface Sent {
  /** Without one, it shares the sentinel of the next. */
  readonly nonce?: string;
  readonly blocks: readonly { readonly failed: boolean; readonly lines: readonly string[] }[];
  /** What tmux says between this reply and its sentinel: notifications, and blocks of hooks. */
  readonly between: readonly string[];
}

/** The bytes tmux would write for these commands, each followed by its sentinel, if it has one. */
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
      ...(nonce === undefined ? [] : block([`parse error: unknown command: x${nonce}`], 'error', 1)),
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
        const got: Frame[] = [];
        for (const { nonce } of sent)
          frames.expect(nonce, { settle: (frame) => got.push(frame), lose: () => expect.unreachable() });
        const splitter = new LineSplitter((line) => frames.line(line));
        const bytes = Buffer.from(transcript(sent), 'latin1');
        for (let at = 0; at < bytes.length; ) {
          const size = sizes.next().value;
          splitter.feed(bytes.subarray(at, at + size));
          at += size;
        }
        expect(got.map((frame) => readFrame(frame).blocks)).toEqual(sent.map(({ blocks }) => blocks));
        expect(
          [...notices, ...got.flatMap((frame) => readFrame(frame).notices)].filter(
            (line) => line.startsWith('%window') || line === 'a hook spoke' || line.startsWith('%sess'),
          ),
        ).toEqual(sent.flatMap((one) => one.between));
      },
    ),
  );
});

test('commands that share a sentinel get each its own lines, or all are to be sent again where one imitates a guard', () => {
  fc.assert(
    fc.property(fc.array(command, { minLength: 2, maxLength: 6 }), (commands) => {
      const lines = transcript([...commands, { nonce: 'cafe', blocks: [], between: [] }]).split('\n');
      const frames = new Frames(() => undefined);
      const got = commands.map((): Frame | 'again' | undefined => undefined);
      frames.expect(
        'cafe',
        ...got.map((_, i) => ({
          settle: (frame: Frame) => (got[i] = frame),
          repeat: () => (got[i] = 'again'),
          lose: () => expect.unreachable(),
        })),
      );
      for (const line of lines) frames.line(line);
      const forged = commands.some(({ blocks: [{ lines }] }) =>
        lines.some((line) => /^%(begin|end|error) .* 1$/.test(line)),
      );
      expect(got.map((one) => (one === 'again' || !one ? one : readFrame(one).blocks))).toEqual(
        forged ? commands.map(() => 'again') : commands.map(({ blocks }) => blocks),
      );
    }),
  );
});

test('a connection tmux has let go keeps what was answered, and says what was never begun', () => {
  const outcome = (letGo: boolean, ...lines: readonly string[]): readonly string[] => {
    const frames = new Frames(() => undefined);
    const said: string[] = [];
    for (const nonce of ['aaaa', 'bbbb']) {
      frames.expect(nonce, {
        settle: (frame) => said.push(replyOf(frame).status),
        lose: (unsent) => said.push(unsent ? 'unsent' : 'lost'),
      });
    }
    for (const line of lines) frames.line(line);
    frames.end(letGo);
    return said;
  };
  expect(outcome(true, '%begin 1 1 1', '%end 1 1 1', '%exit')).toEqual(['complete', 'unsent']);
  expect(outcome(true, '%begin 1 1 1', 'half', '%exit')).toEqual(['lost', 'unsent']);
  expect(outcome(true)).toEqual(['unsent', 'unsent']);
  expect(outcome(false, '%begin 1 1 1', '%end 1 1 1', '%exit')).toEqual(['lost', 'lost']);
  expect(outcome(false)).toEqual(['lost', 'lost']);
});

test('what a hook prints is nobody’s reply, even if it looks like one', () => {
  const notices: string[] = [];
  const frames = new Frames((line) => notices.push(line));
  let reply: unknown;
  frames.expect('cafe', {
    settle: (frame) => (reply = replyOf(frame)),
    lose: () => expect.unreachable(),
  });
  const hook = ['%begin 1 7 0', '%begin 1 1 1', 'forged', '%end 1 7 0'];
  const own = [
    '%begin 1 8 1',
    'mine',
    '%end 1 8 1',
    '%begin 1 9 1',
    'parse error: unknown command: xcafe',
    '%error 1 9 1',
  ];
  for (const line of [...hook, ...own]) frames.line(line);
  expect(reply).toEqual({ status: 'complete', stdout: 'mine\n', stderr: '' });
  expect(notices).toEqual(hook);
});

test('a hook’s guard that was forged holds back no answer', () => {
  const notices: string[] = [];
  const frames = new Frames((line) => notices.push(line));
  const replies: unknown[] = [];
  const waiting = {
    settle: (frame: Frame) => replies.push(replyOf(frame)),
    lose: () => expect.unreachable(),
  };
  const answer = (text: string, nonce: string): string[] => [
    '%begin 1 8 1',
    text,
    '%end 1 8 1',
    '%begin 1 9 1',
    `parse error: unknown command: x${nonce}`,
    '%error 1 9 1',
  ];
  for (const line of ['%message a', '%begin 1 2 0', '%window-add @1']) frames.line(line);
  frames.expect('cafe', waiting);
  frames.expect('babe', waiting);
  for (const line of [...answer('one', 'cafe'), ...answer('two', 'babe'), '%window-add @2'])
    frames.line(line);
  expect(replies).toMatchObject([{ stdout: 'one\n' }, { stdout: 'two\n' }]);
  expect(notices).toEqual(['%message a', '%begin 1 2 0', '%window-add @1', '%window-add @2']);
});

/** The lines of a `;` line: markers, answers and errors, each a block of its own. */
function chainFrame(...texts: readonly (string | Error)[]): Frame {
  return texts.flatMap((text, i) => {
    const lines = text instanceof Error ? [text.message] : text.split('\n').filter(Boolean);
    return [`%begin 5 ${i} 1`, ...lines, `${text instanceof Error ? '%error' : '%end'} 5 ${i} 1`];
  });
}

test('the markers of a line name the command that failed, and a line without its first ran nothing', () => {
  const no = new Error('no');
  const statuses = (...texts: (string | Error)[]): readonly string[] =>
    chainReplies(chainFrame(...texts), ['m0', 'm1', 'm2', 'm3']).map(({ status }) => status);
  expect(statuses('m0', '', 'm1', '', 'm2', '', 'm3')).toEqual(['complete', 'complete', 'complete']);
  expect(statuses('m0', '', 'm1', no)).toEqual(['complete', 'failed', 'skipped']);
  expect(statuses('m0', no)).toEqual(['failed', 'skipped', 'skipped']);
  expect(statuses(no)).toEqual(['failed', 'failed', 'failed']);
  expect(statuses('m0', '', 'm1')).toEqual(['complete', 'unknown', 'unknown']);
  expect(statuses('m0', no, 'm1', '', 'm2', '', 'm3')).toEqual(['failed', 'complete', 'complete']);
});

test('text that imitates guards stays with the command of a line that printed it', () => {
  const forged = Array.from({ length: 12 }, (_, i) => `%end 5 ${i} 1`).join('\n');
  const replies = chainReplies(chainFrame('m0', 'one', 'm1', forged, 'm2', 'three', 'm3'), [
    'm0',
    'm1',
    'm2',
    'm3',
  ]);
  expect(replies.map(({ stdout }) => stdout)).toEqual(['one\n', `${forged}\n`, 'three\n']);
});
