import type { Reply } from '../../operation/reply.ts';
import { skippedReply } from '../../operation/reply.ts';
import { decode } from './lines.ts';

/** One `%begin … %end|%error` of a command of ours. */
interface Block {
  readonly failed: boolean;
  readonly lines: readonly string[];
}

/** All lines tmux wrote for one command line, guards included. */
export type Frame = readonly string[];

/** Who waits for the answer to a command line. */
export interface Waiting {
  settle(frame: Frame): void;
  /** `unsent`: tmux let us go in good order and had not begun this command, so it can be sent again. */
  lose(unsent: boolean): void;
}

/** Who waits for what only reads and answers in one block: it may share a sentinel with its neighbours. */
export interface Sharing extends Waiting {
  /** Which block answers it cannot be told, for some text imitates a guard: it is to be sent again, with its own sentinel. */
  repeat(): void;
}

/** Who waits for the same sentinel. */
export type Waiters = readonly [Waiting] | readonly Sharing[];

interface Expected {
  readonly nonce: string;
  readonly waiting: Waiters;
}

/**
 * Tells which lines of a control connection answer which command. No I/O, no clock.
 *
 * tmux gives no fixed number of blocks a command: none, one, or several, and a block's text may imitate the guards
 * around it. So every command line is followed by a sentinel: a line that is no command but a random word. tmux
 * refuses it, naming the word, after everything the command had to say; it costs a parse and runs no hook.
 * All lines before the sentinel's belong to the command.
 *
 * That parse is as dear as a command, so commands that only read share a sentinel: as long as there are just as many
 * blocks before it as commands, and not one guard more, each has its own.
 */
export class Frames {
  readonly #onNotice: (line: string) => void;
  readonly #expected: Expected[] = [];
  #next = 0;
  #frame: string[] | null = null;
  /** The guard of a hook's block that is under way: what stands in it is nobody's reply. */
  #hook: string | null = null;
  #last = '';
  #answered = 0;

  constructor(onNotice: (line: string) => void) {
    this.#onNotice = onNotice;
  }

  get isIdle(): boolean {
    return this.#next === this.#expected.length;
  }

  /** How many commands have been answered. */
  get answered(): number {
    return this.#answered;
  }

  /** The line that came last: `%exit` when tmux has let the client go. */
  get last(): string {
    return this.#last;
  }

  expect(nonce: string, ...waiting: Waiters): void {
    this.#expected.push({ nonce, waiting });
  }

  line(line: string): void {
    this.#last = line;
    const head = this.#expected[this.#next];
    if (this.#frame === null) {
      if (head && isOurBegin(line)) this.#frame = [line];
      else this.#notice(line);
      return;
    }
    const frame = this.#frame;
    frame.push(line);
    // If the hook ends first, this began in its text; if the sentinel comes first, the hook's begin was forged.
    if (this.#hook !== null && closes(line, this.#hook)) {
      this.#frame = null;
      for (const text of frame) this.#notice(text);
      return;
    }
    if (head && line.charCodeAt(0) === percent && endsInSentinel(frame, head.nonce)) {
      this.#frame = null;
      this.#hook = null;
      this.#advance();
      frame.length -= 3;
      this.#answered += head.waiting.length;
      settle(frame, head.waiting);
    }
  }

  /** The connection is gone. If tmux let us go, a command that got its answer keeps it; the others are lost. */
  end(letGo: boolean): void {
    const frame = this.#frame;
    const left = this.#expected.splice(0).slice(this.#next);
    this.#frame = null;
    this.#next = 0;
    for (const [i, { waiting }] of left.entries()) {
      const begun = i === 0 && frame !== null;
      const [one] = waiting;
      if (begun && letGo && one && waiting.length === 1 && closeOf(frame, 0) > 0) one.settle(frame);
      else for (const each of waiting) each.lose(letGo && !begun);
    }
  }

  #notice(line: string): void {
    if (this.#hook !== null) {
      if (closes(line, this.#hook)) this.#hook = null;
    } else if (line.startsWith('%begin ')) {
      this.#hook = line.slice(beginLength);
    }
    this.#onNotice(line);
  }

  #advance(): void {
    this.#next += 1;
    if (this.#next < 1024 && this.#next < this.#expected.length) return;
    this.#expected.splice(0, this.#next);
    this.#next = 0;
  }
}

const percent = 37;
const beginLength = '%begin '.length;
const endLength = '%end '.length;
const errorLength = '%error '.length;

/** tmux marks the blocks of commands a client has sent itself with 1, those of hooks with 0. */
function isOurBegin(line: string): boolean {
  return line.startsWith('%begin ') && line.endsWith(' 1');
}

function settle(frame: Frame, waiting: Waiters): void {
  const [one, ...others] = waiting;
  if (others.length === 0) return void one?.settle(frame);
  const frames = oneEach(frame, waiting.length);
  for (const [i, each] of (waiting as readonly Sharing[]).entries()) {
    const own = frames?.[i];
    if (own) each.settle(own);
    else each.repeat();
  }
}

/** The frame of each of so many commands, if there is no doubt which lines are whose. */
function oneEach(frame: Frame, count: number): readonly Frame[] | null {
  const begins: number[] = [];
  let guard: string | null = null;
  for (const [at, line] of frame.entries()) {
    if (line.charCodeAt(0) !== percent || !line.endsWith(' 1')) continue;
    if (line.startsWith('%begin ')) {
      if (guard !== null) return null;
      guard = line.slice(beginLength);
      begins.push(at);
    } else if (line.startsWith('%end ') || line.startsWith('%error ')) {
      if (guard === null || !closes(line, guard)) return null;
      guard = null;
    }
  }
  if (guard !== null || begins.length !== count) return null;
  return begins.map((begin, i) => frame.slice(begin, begins[i + 1]));
}

/** `%begin G`, a text that ends in the nonce, `%error G`. */
function endsInSentinel(frame: Frame, nonce: string): boolean {
  const size = frame.length;
  if (size < 3 || !frame[size - 2]?.endsWith(nonce)) return false;
  const begin = frame[size - 3] ?? '';
  const error = frame[size - 1] ?? '';
  return (
    begin.startsWith('%begin ') && error.startsWith('%error ') && closes(error, begin.slice(beginLength))
  );
}

/** Where the block that begins here ends: at the last line that closes it, for an earlier one is text that imitates it. */
function closeOf(frame: Frame, begin: number): number {
  const guard = (frame[begin] ?? '').slice(beginLength);
  for (let at = frame.length - 1; at >= 0; at--) if (closes(frame[at] ?? '', guard)) return at;
  return -1;
}

/** Whether a line is `%end G` or `%error G`; told without writing either, for every line of every reply is asked. */
function closes(line: string, guard: string): boolean {
  const before = line.length - guard.length;
  return (
    ((before === endLength && line.startsWith('%end ')) ||
      (before === errorLength && line.startsWith('%error '))) &&
    line.endsWith(guard)
  );
}

/** The blocks of a frame, and what stood between them: notifications, and blocks of hooks, whose text is also given. */
export function readFrame(frame: Frame): {
  readonly blocks: readonly Block[];
  readonly notices: readonly string[];
  readonly hooks: readonly (readonly string[])[];
} {
  const blocks: Block[] = [];
  const notices: string[] = [];
  const hooks: (readonly string[])[] = [];
  for (let at = 0; at < frame.length; at++) {
    const line = frame[at] ?? '';
    const close = line.startsWith('%begin ') ? closeOf(frame, at) : -1;
    if (close < at) {
      notices.push(line);
      continue;
    }
    if (isOurBegin(line)) {
      blocks.push({
        failed: frame[close]?.startsWith('%error ') === true,
        lines: frame.slice(at + 1, close),
      });
    } else {
      notices.push(...frame.slice(at, close + 1));
      if (close > at + 1) hooks.push(frame.slice(at + 1, close));
    }
    at = close;
  }
  return { blocks, notices, hooks };
}

/** What tmux said to one command: all its blocks together, as a tmux process would have printed it. */
export function replyOf(frame: Frame): Reply {
  const { blocks } = readFrame(frame);
  const [first] = blocks;
  if (!first) return { status: 'unknown', stdout: '', stderr: '' };
  if (blocks.length === 1 && !first.failed)
    return { status: 'complete', stdout: textOf(first.lines), stderr: '' };
  const failed = blocks.filter((block) => block.failed).flatMap((block) => block.lines);
  return {
    status: blocks.some((block) => block.failed) ? 'failed' : 'complete',
    stdout: textOf(blocks.filter((block) => !block.failed).flatMap((block) => block.lines)),
    stderr: textOf(failed).replace(/^parse error: /, ''),
  };
}

/**
 * What tmux said to each command of a `;` line. Markers stand before, between and after the commands: without the
 * first one tmux did not take the line at all, and the first missing one after it names the command that failed.
 */
export function chainReplies(frame: Frame, markers: readonly string[]): readonly Reply[] {
  const { pieces, rest } = cutAtMarkers(frame, markers);
  if (pieces.length === 0) return markers.slice(1).map(() => replyOf(frame));
  const last = replyOf(rest);
  return markers.slice(1).map((_, i) => {
    const own = pieces[i + 1];
    if (own) return replyOf(own);
    if (i + 1 === pieces.length) return last;
    return last.status === 'failed' ? skippedReply : { status: 'unknown', stdout: '', stderr: '' };
  });
}

/** The lines before each marker that was printed, and those after the last. Nobody can print a marker: it is random. */
function cutAtMarkers(
  frame: Frame,
  markers: readonly string[],
): { readonly pieces: readonly Frame[]; readonly rest: Frame } {
  const pieces: Frame[] = [];
  let from = 0;
  for (let at = 0; at < frame.length && pieces.length < markers.length; at++) {
    if (frame[at] !== markers[pieces.length]) continue;
    pieces.push(frame.slice(from, at - 1));
    from = at + 2;
  }
  return { pieces, rest: frame.slice(from) };
}

function textOf(lines: readonly string[]): string {
  return lines.length === 0 ? '' : `${decode(lines.join('\n'))}\n`;
}
