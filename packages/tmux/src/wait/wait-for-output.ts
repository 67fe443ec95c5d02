import * as z from 'zod';
import { TmuxError } from '../errors.ts';
import { readGiven, shown } from '../operation/given.ts';
import type { PaneId } from '../operation/target.ts';
import { isAtPrompt } from './foreground.ts';
import { gap, type OutputSource, outputOf, type Tmux } from './output-source.ts';
import { type Exit, type PaneState, paneState } from './pane-state.ts';
import { PlainText } from './plain-text.ts';

export interface WaitOptions {
  /** Done once after the wait listens and before it waits: what it sends cannot be answered unheard. */
  readonly send?: () => Promise<unknown>;
  /** What is listened to instead of the pane from now on: a reader of an `OutputTape`. The wait closes it. */
  readonly source?: OutputSource;
  /** Ends with `pattern` when the text printed since the start matches. */
  readonly pattern?: RegExp;
  /** Ends after this much silence: with `finished` when the shell is at its prompt for half of it, with `silent` when something runs. */
  readonly settleMs?: number;
  /** Silence ends the wait only when nothing runs any more. */
  readonly whileRunning?: boolean;
  /** Ends with `timeout`; 30 s unless told. */
  readonly timeoutMs?: number;
  /** Ends with `bytes` when this much was printed. */
  readonly maxBytes?: number;
  /** How much text is kept, the latest; 128 KiB unless told. */
  readonly keepChars?: number;
  /** Told each piece of the text as it is heard. */
  readonly onText?: (text: string) => void;
  readonly signal?: AbortSignal;
}

// Infinity is no number to zod, and a good time to wait.
const amount = z.custom<number>((value) => typeof value === 'number' && value >= 0, {
  error: ({ input }) => `must be a number, 0 or more, not ${shown(input)}`,
});
export const waitSchema: z.ZodObject = z.strictObject({
  send: z.custom((value) => typeof value === 'function', 'must be a function').optional(),
  source: z
    .custom<OutputSource>(
      (value) => typeof value === 'object' && value !== null && Symbol.asyncIterator in value,
      'must be a reader of an OutputTape',
    )
    .optional(),
  pattern: z.instanceof(RegExp).optional(),
  settleMs: amount.optional(),
  whileRunning: z.boolean().optional(),
  timeoutMs: amount.optional(),
  maxBytes: amount.optional(),
  keepChars: amount.optional(),
  onText: z.custom((value) => typeof value === 'function', 'must be a function').optional(),
  signal: z.instanceof(AbortSignal).optional(),
});

export type WaitReason =
  | 'pattern'
  | 'finished'
  | 'silent'
  | 'exited'
  | 'gone'
  | 'timeout'
  | 'bytes'
  | 'aborted'
  | 'lost';

export interface WaitResult {
  /** `exited`: the process ended and the pane stayed. `gone`: the pane is no more, and its server lives. `lost`: the output can no longer be followed. */
  readonly reason: WaitReason;
  /** What was printed since the start, as text. */
  readonly text: string;
  /** Some of the text is missing: only its latest part is kept, or tmux or the connection lost some on the way. */
  readonly truncated: boolean;
  readonly bytes: number;
  readonly match: RegExpExecArray | null;
  readonly exit: Exit | null;
}

const pollMs = 25;
const exitMs = 1_000;
/** What a timer can be set to at most. */
const longestTimer = 2 ** 31 - 1;

/**
 * Listens to a pane, then sends, then waits for the first of: a pattern, silence, the end of the process, a limit.
 * A pane that is dead or gone already is told at once, and nothing is sent. When it is the server that has ended, the
 * wait fails with no_server.
 *
 * @example
 * const send = () => pane.sendText('echo "sum: $((20 + 22))"', { enter: true });
 * const { reason, match } = await waitForOutput(server, pane.id, { send, pattern: /^sum: (\d+)$/m });
 */
export async function waitForOutput(tmux: Tmux, paneId: PaneId, options: WaitOptions): Promise<WaitResult> {
  readGiven(waitSchema, options, 'waitFor');
  const heard = new Heard(options);
  // What is on a tape can be heard although the pane has ended.
  const source = options.source ?? (await sourceOf(tmux, paneId));
  if ('reason' in source) return heard.result(source.reason, source.exit);
  const onAbort = (): void => heard.wake();
  options.signal?.addEventListener('abort', onAbort);
  try {
    void listen(source, heard); // It ends with the source, and never fails.
    await options.send?.();
    return await firstEnd(tmux, paneId, options, heard, source);
  } finally {
    options.signal?.removeEventListener('abort', onAbort);
    await source[Symbol.asyncDispose]();
  }
}

type Ending = Pick<WaitResult, 'reason' | 'exit'>;

/** What the pane prints, or how it has ended already. */
async function sourceOf(tmux: Tmux, paneId: PaneId): Promise<OutputSource | Ending> {
  const ending = await endingOf(tmux, paneId);
  if (ending) return ending;
  try {
    return await outputOf(tmux, paneId);
  } catch (error) {
    // It may have ended since it was looked at.
    const late = error instanceof TmuxError ? await endingOf(tmux, paneId) : null;
    if (late) return late;
    throw error;
  }
}

async function endingOf(tmux: Tmux, paneId: PaneId): Promise<Ending | null> {
  const state = await paneState(tmux.engine, paneId);
  const reason = endOf(state, false);
  return reason && { reason, exit: state?.exit ? await knownExit(tmux, paneId, state.exit) : null };
}

async function listen(source: OutputSource, heard: Heard): Promise<void> {
  try {
    for await (const chunk of source) {
      if (chunk === gap) heard.miss();
      else heard.take(chunk);
    }
  } catch {
    // A torn stream ends like a closed one: the pane's state says why.
  }
  heard.end();
}

async function firstEnd(
  tmux: Tmux,
  paneId: PaneId,
  { timeoutMs = 30_000, signal }: WaitOptions,
  heard: Heard,
  source: OutputSource,
): Promise<WaitResult> {
  const deadline = performance.now() + timeoutMs;
  for (let lookedAt = Number.NEGATIVE_INFINITY; ; ) {
    const reason = heard.reason() ?? (signal?.aborted ? 'aborted' : null);
    if (reason) return heard.result(reason, null);
    const now = performance.now();
    if (now >= deadline) return heard.result('timeout', null);
    const { endedAt } = heard;
    const isNews = endedAt !== undefined && endedAt >= lookedAt;
    const wait = isNews ? 0 : Math.min(pollMs - (now - lookedAt), deadline - now);
    if (wait > 0) {
      await heard.next(wait);
      continue;
    }
    lookedAt = now;
    const state = await paneState(tmux.engine, paneId);
    // 3.8 lets go of a pipe a moment before it takes the pane for dead.
    const ending = endOf(state, endedAt !== undefined && now - endedAt >= exitMs);
    if (ending) {
      const cut = await finishInTime(source, deadline, signal);
      const exit = state?.exit ?? null;
      return heard.result(
        heard.reason() ?? cut ?? ending,
        exit && !cut ? await knownExit(tmux, paneId, exit) : exit,
      );
    }
    const silence = await heard.settled(state as PaneState);
    if (silence) return heard.result(silence, null);
  }
}

/** Waits for the last words of a dead pane; answers what cut that short. */
async function finishInTime(
  source: OutputSource,
  deadline: number,
  signal: AbortSignal | undefined,
): Promise<'timeout' | 'aborted' | null> {
  const left = Math.min(Math.max(0, Math.ceil(deadline - performance.now())), longestTimer);
  const over = AbortSignal.timeout(left);
  await source.finish(signal ? AbortSignal.any([over, signal]) : over);
  if (signal?.aborted) return 'aborted';
  return over.aborted ? 'timeout' : null;
}

/**
 * tmux sees the terminal close a moment before it learns how the process ended; before 3.3 it never learns of a signal.
 * 3.3a sometimes learns it only when another child of its own ends: then it is given one.
 */
async function knownExit({ engine }: Tmux, paneId: PaneId, exit: Exit): Promise<Exit> {
  for (let left = exitMs; left > 0 && exit.status === null && exit.signal === null; left -= pollMs) {
    if (left === exitMs / 2) await engine.run({ argv: ['run-shell', '-b', ':'], effect: 'write' });
    await new Promise((resolve) => setTimeout(resolve, pollMs));
    exit = (await paneState(engine, paneId))?.exit ?? exit;
  }
  return exit;
}

function endOf(state: PaneState | null, over: boolean): WaitReason | null {
  if (state === null) return 'gone';
  if (state.exit) return 'exited';
  return over ? 'lost' : null;
}

/** What has been heard so far, and what of it ends the wait. */
class Heard {
  readonly #options: WaitOptions;
  readonly #plain = new PlainText();
  #text = '';
  #bytes = 0;
  #truncated = false;
  #match: RegExpExecArray | null = null;
  #lastAt = performance.now();
  /** Since the last of it: whether the pane was looked at, and since when its shell was seen at its prompt. */
  #isLookedAt = false;
  #promptAt: number | undefined;
  #wake: () => void = () => undefined;
  #endedAt: number | undefined;

  constructor(options: WaitOptions) {
    this.#options = options;
  }

  take(chunk: Uint8Array): void {
    const { pattern, keepChars = 128 * 1024, onText } = this.#options;
    this.#bytes += chunk.length;
    const text = this.#plain.feed(chunk);
    this.#text += text;
    if (text !== '') onText?.(text);
    this.#lastAt = performance.now();
    this.#isLookedAt = false;
    this.#promptAt = undefined;
    if (pattern && !this.#match)
      this.#match = new RegExp(pattern, pattern.flags.replace(/[gy]/g, '')).exec(this.#text);
    if (this.#text.length > keepChars) {
      this.#text = this.#text.slice(-keepChars);
      this.#truncated = true;
    }
    this.wake();
  }

  /** Some of it was never heard. */
  miss(): void {
    this.#truncated = true;
  }

  /** Since when no more will come. */
  get endedAt(): number | undefined {
    return this.#endedAt;
  }

  end(): void {
    this.#endedAt = performance.now();
    this.wake();
  }

  wake(): void {
    this.#wake();
  }

  reason(): WaitReason | null {
    if (this.#match) return 'pattern';
    const { maxBytes } = this.#options;
    return maxBytes !== undefined && this.#bytes >= maxBytes ? 'bytes' : null;
  }

  /**
   * Silent long enough? And is that the end, or only a pause? What a program prints last is heard a moment after it has
   * ended, so half of the silence must come after the prompt: it is looked for after the first half.
   */
  async settled(state: PaneState): Promise<WaitReason | null> {
    const { settleMs, whileRunning } = this.#options;
    if (settleMs === undefined) return null;
    const silentMs = performance.now() - this.#lastAt;
    const isLong = silentMs >= settleMs;
    if (!isLong && (this.#isLookedAt || silentMs < settleMs / 2)) return null;
    const heard = this.#bytes;
    const isBack = await isAtPrompt(state.tty, state.pid);
    if (this.#bytes !== heard) return null;
    this.#isLookedAt = true;
    this.#promptAt = isBack ? (this.#promptAt ?? performance.now()) : undefined;
    if (!isLong) return null;
    if (this.#promptAt === undefined) return whileRunning ? null : 'silent';
    return performance.now() - this.#promptAt >= settleMs / 2 ? 'finished' : null;
  }

  /** Until something is heard, at most `ms`. */
  next(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, Math.max(0, ms));
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  result(reason: WaitReason, exit: Exit | null): WaitResult {
    return {
      reason,
      text: this.#text,
      truncated: this.#truncated,
      bytes: this.#bytes,
      match: this.#match,
      exit,
    };
  }
}
