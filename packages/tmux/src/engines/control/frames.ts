import type { Reply } from '../../operation/reply.ts';
import { skippedReply } from '../../operation/reply.ts';
import { decode } from './lines.ts';

/** One `%begin … %end|%error` of a command of ours. */
export interface Block {
  readonly failed: boolean;
  readonly lines: readonly string[];
}

interface Expected {
  readonly nonce: string;
  readonly settle: (blocks: readonly Block[]) => void;
  /** `unsent`: tmux let us go in good order and had not begun this command, so it can be sent again. */
  readonly lose: (unsent: boolean) => void;
}

/**
 * Tells which lines of a control connection answer which command. No I/O, no clock.
 *
 * tmux gives no fixed number of blocks a command: none, one, or several, and a block's text may imitate the guards
 * around it. So every command line is followed by a sentinel: a line that is no command but a random word. tmux
 * refuses it, naming the word, after everything the command had to say; it costs a parse and runs no hook.
 * All blocks before the sentinel's belong to the command.
 */
export class Frames {
  readonly #onNotice: (line: string) => void;
  readonly #expected: Expected[] = [];
  #next = 0;
  #frame: string[] | null = null;
  #last = '';

  constructor(onNotice: (line: string) => void) {
    this.#onNotice = onNotice;
  }

  expect(expected: Expected): void {
    this.#expected.push(expected);
  }

  line(line: string): void {
    this.#last = line;
    const head = this.#expected[this.#next];
    if (this.#frame === null) {
      if (head && line.startsWith('%begin ') && line.endsWith(' 1')) this.#frame = [line];
      else this.#onNotice(line);
      return;
    }
    const frame = this.#frame;
    frame.push(line);
    if (head && line.charCodeAt(0) === percent && endsInSentinel(frame, head.nonce)) {
      this.#frame = null;
      this.#advance();
      frame.length -= 3;
      this.#settle(head, frame);
    }
  }

  /** The connection is gone: a command that got its answer keeps it, the others are lost. */
  end(): void {
    const frame = this.#frame ?? [];
    const waiting = this.#expected.splice(0).slice(this.#next);
    this.#frame = null;
    this.#next = 0;
    // tmux writes all it has said before it lets a client go; with a reason, or with no %exit, it may have been cut off.
    const inOrder = this.#last === '%exit';
    for (const [i, head] of waiting.entries()) {
      const begun = i === 0 && frame.length > 0;
      const blocks = begun && inOrder ? readFrame(frame).blocks : [];
      if (blocks.length > 0) head.settle(blocks);
      else head.lose(inOrder && !begun);
    }
  }

  #advance(): void {
    this.#next += 1;
    if (this.#next < 1024 && this.#next < this.#expected.length) return;
    this.#expected.splice(0, this.#next);
    this.#next = 0;
  }

  #settle(head: Expected, frame: readonly string[]): void {
    const { blocks, notices } = readFrame(frame);
    head.settle(blocks);
    for (const notice of notices) this.#onNotice(notice);
  }
}

const percent = 37;

/** `%begin G`, a text that ends in the nonce, `%error G`. */
function endsInSentinel(frame: readonly string[], nonce: string): boolean {
  const size = frame.length;
  if (size < 3 || !frame[size - 2]?.endsWith(nonce)) return false;
  const begin = frame[size - 3] ?? '';
  return begin.startsWith('%begin ') && frame[size - 1] === `%error ${begin.slice(7)}`;
}

/**
 * The blocks of a frame, and what stood between them. A block ends at the last line that closes it: an earlier one
 * is text that imitates it.
 */
function readFrame(frame: readonly string[]): {
  readonly blocks: readonly Block[];
  readonly notices: readonly string[];
} {
  const blocks: Block[] = [];
  const notices: string[] = [];
  for (let at = 0; at < frame.length; at++) {
    const line = frame[at] ?? '';
    if (!line.startsWith('%begin ')) {
      notices.push(line);
      continue;
    }
    const guard = line.slice(7);
    const close = frame.findLastIndex((other) => other === `%end ${guard}` || other === `%error ${guard}`);
    if (close < at) break; // The connection ended inside this block.
    if (guard.endsWith(' 1'))
      blocks.push({ failed: frame[close] === `%error ${guard}`, lines: frame.slice(at + 1, close) });
    else notices.push(...frame.slice(at, close + 1)); // A hook's block: nobody here asked for it.
    at = close;
  }
  return { blocks, notices };
}

/** What tmux said to one command: all its blocks together, as a tmux process would have printed it. */
export function replyOf(blocks: readonly Block[]): Reply {
  const first = blocks[0];
  if (!first) return { status: 'unknown', stdout: '', stderr: '' };
  if (blocks.length === 1 && !first.failed)
    return { status: 'complete', stdout: textOf(first.lines), stderr: '' };
  return {
    status: blocks.some((block) => block.failed) ? 'failed' : 'complete',
    stdout: textOf(blocks.filter((block) => !block.failed).flatMap((block) => block.lines)),
    stderr: textOf(blocks.filter((block) => block.failed).flatMap((block) => block.lines)).replace(
      /^parse error: /,
      '',
    ),
  };
}

/**
 * What tmux said to each command of a `;` line. Markers stand before, between and after the commands: without the
 * first one tmux did not take the line at all, and the first missing one after it names the command that failed.
 */
export function chainReplies(blocks: readonly Block[], markers: readonly string[]): readonly Reply[] {
  const isMarker = (block: Block, marker: string | undefined): boolean =>
    block.lines.length === 1 && block.lines[0] === marker;
  const first = blocks.findIndex((block) => isMarker(block, markers[0]));
  if (first < 0) return markers.slice(1).map(() => replyOf(blocks));
  let rest = blocks.slice(first + 1);
  let failed = false;
  return markers.slice(1).map((marker) => {
    if (failed) return skippedReply;
    const end = rest.findIndex((block) => isMarker(block, marker));
    const reply = replyOf(end < 0 ? rest : rest.slice(0, end));
    rest = end < 0 ? [] : rest.slice(end + 1);
    failed = reply.status === 'failed';
    return reply;
  });
}

function textOf(lines: readonly string[]): string {
  return lines.length === 0 ? '' : `${decode(lines.join('\n'))}\n`;
}
