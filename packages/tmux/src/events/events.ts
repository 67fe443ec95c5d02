import { setTimeout } from 'node:timers/promises';
import * as z from 'zod';
import type { ConnectionOptions } from '../engine.ts';
import { ControlConnection } from '../engines/control/connection.ts';
import { readFrame, replyOf } from '../engines/control/frames.ts';
import { quietSession } from '../engines/control/session-choice.ts';
import { SubprocessEngine } from '../engines/subprocess.ts';
import { TmuxError, type TmuxErrorCode } from '../errors.ts';
import { readGiven } from '../operation/given.ts';
import { quoteLine } from '../operation/quote.ts';
import { linesOf, type Reply } from '../operation/reply.ts';
import { type PaneId, type SessionId, sessionIdSchema, type WindowId } from '../operation/target.ts';
import type { TmuxEvent, TmuxEventType } from './event.ts';
import { EventStream, type SubscribeOptions } from './event-stream.ts';
import { createNoticeReader } from './notices.ts';

export interface EventsOptions {
  /** Whose panes' output is seen: tmux sends only that of the session a client is attached to. */
  readonly session?: SessionId;
  /** False: notifications only, at no cost to the panes. */
  readonly output?: boolean;
  /** After how many seconds of our lag tmux drops a pane's backlog instead of stopping its program; 5 unless told. */
  readonly pauseAfter?: number;
}

const optionsSchema: z.ZodType<EventsOptions> = z.strictObject({
  session: sessionIdSchema.optional(),
  output: z.boolean().optional(),
  pauseAfter: z.int().min(1).optional(),
});

/** What a watch looks at: the attached session, one pane or window, or all of them. */
export type WatchScope = '' | PaneId | WindowId | '%*' | '@*';

const gone: ReadonlySet<TmuxErrorCode> = new Set(['no_server', 'command_failed']);

/** How long to wait before each try to reconnect; the last one repeats. */
const backoffMs = [100, 200, 500, 1_000, 2_000, 5_000];
/** How long a connection lasts that was worth having. */
const healthyMs = 1_000;

/**
 * The events of a tmux server, over a connection of their own that never stops a program and never resizes a window.
 * It comes back after a loss, with its watches, and says so.
 *
 * @example
 * await using events = await Events.open(server.connection);
 * const added = events.subscribe({ types: ['window-add'] });
 * await session.newWindow({ name: 'logs' });
 * for await (const event of added) if (event.type === 'window-add') break;
 */
export class Events implements AsyncDisposable {
  readonly #options: EventsOptions;
  readonly #target: ConnectionOptions;
  readonly #processes: SubprocessEngine;
  readonly #streams = new Set<EventStream>();
  readonly #watches = new Map<string, string>();
  #connection: ControlConnection | null = null;
  #generation = 0;
  /** When the connection came, and how often one was tried for since the last that lasted. */
  #since = 0;
  #tries = 0;
  #closing: AbortController = new AbortController();

  private constructor(target: ConnectionOptions, options: EventsOptions) {
    this.#target = target;
    this.#options = options;
    this.#processes = new SubprocessEngine(target);
  }

  /** Connects; fails with no_server when there is none, with command_failed when the session is gone or would notice. */
  static async open(target: ConnectionOptions, options: EventsOptions = {}): Promise<Events> {
    const events = new Events(target, readGiven(optionsSchema, options, 'events'));
    await events.#connect();
    return events;
  }

  /** How many connections there have been. */
  get generation(): number {
    return this.#generation;
  }

  /** A queue of its own for one reader. It ends with the reader's loop, or when the events are closed. */
  subscribe(options: SubscribeOptions = {}): EventStream {
    const stream = new EventStream(options, (ended) => this.#streams.delete(ended));
    this.#streams.add(stream);
    if (this.#closing.signal.aborted) stream.end();
    return stream;
  }

  /** Reports a format whenever its value changes, checked by tmux once a second, as `subscription-changed`. */
  async watch(name: string, format: string, scope: WatchScope = ''): Promise<void> {
    if (!/^[\w-]+$/.test(name)) {
      throw new TmuxError(
        'invalid_parameters',
        `A watch is named with letters, digits, "_" and "-", not ${JSON.stringify(name)}.`,
      );
    }
    // A value is not escaped by tmux: a newline in it, of a folder's name for instance, could forge events.
    const subscription = `${name}:${scope}:#{s|\n| |:${nested(format)}}`;
    const reply = await this.#command(['refresh-client', '-B', subscription]);
    if (reply.status !== 'complete')
      throw new TmuxError('command_failed', `tmux refused the watch ${name}: ${reply.stderr.trim()}`);
    this.#watches.set(name, subscription);
  }

  async unwatch(name: string): Promise<void> {
    if (this.#watches.delete(name)) await this.#command(['refresh-client', '-B', name]);
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await this.#connection?.close();
    for (const stream of this.#streams) stream.end();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #connect(): Promise<void> {
    const session = await this.#attachable();
    const { output = true, pauseAfter = 5 } = this.#options;
    const flags = `${output ? `pause-after=${pauseAfter}` : 'no-output'},ignore-size`;
    const onNotice = createNoticeReader(
      (event) => this.#emit(event),
      (type) => this.#wants(type),
    );
    const connection = await ControlConnection.open(this.#target, session, flags, onNotice);
    if (this.#closing.signal.aborted) return connection.close();
    this.#connection = connection;
    const ended = connection.closed.then(() => connection.conclude(false));
    // Until the watches are back a loss is a try that failed, and whoever tries goes on with it.
    for (const subscription of this.#watches.values())
      await this.#command(['refresh-client', '-B', subscription]);
    if (!connection.isOpen)
      throw new TmuxError('connection_lost', 'The event connection ended at once.', { session });
    this.#since = performance.now();
    this.#generation += 1;
    void ended.then(() => this.#lost());
    this.#emit({ type: 'connected', generation: this.#generation });
  }

  /** The session asked for, or any quiet one; never one that our coming or going would keep or destroy. */
  async #attachable(): Promise<SessionId> {
    const { session } = this.#options;
    const found = await quietSession(this.#processes, session);
    if (found !== null) return found;
    const listed = await this.#processes.run({
      argv: ['list-sessions', '-F', '#{session_id}'],
      effect: 'read',
    });
    if (session === undefined || listed.status !== 'complete') {
      const message = 'There is no tmux server, or no session whose destroy-unattached is off.';
      throw new TmuxError('no_server', message, { session });
    }
    const why = linesOf(listed.stdout).includes(session)
      ? `Session ${session} is set to be destroyed when unattached: its output can be had by a pipe.`
      : `can't find session: ${session}`;
    throw new TmuxError('command_failed', why, { session });
  }

  async #lost(): Promise<void> {
    if (this.#closing.signal.aborted) return;
    this.#connection = null;
    this.#emit({ type: 'disconnected', generation: this.#generation });
    // Where every client is thrown out at once, by a hook say, coming back does not count as having come.
    if (performance.now() - this.#since >= healthyMs) this.#tries = 0;
    while (!this.#closing.signal.aborted) {
      await delay(backoffMs[this.#tries] ?? 0, this.#closing.signal);
      this.#tries = Math.min(this.#tries + 1, backoffMs.length - 1);
      if (this.#closing.signal.aborted) return;
      try {
        await this.#connect();
        this.#emit({ type: 'gap', reason: 'reconnected', dropped: 0, paneId: null });
        return;
      } catch (error) {
        // Not there yet: the next try tells. A session that was asked for by name does not come back.
        if (this.#options.session !== undefined && error instanceof TmuxError && gone.has(error.code))
          return this.close();
      }
    }
  }

  #wants(type: TmuxEventType): boolean {
    if (type === 'pause') return true;
    for (const stream of this.#streams) if (stream.wants(type)) return true;
    return false;
  }

  #emit(event: TmuxEvent): void {
    for (const stream of this.#streams) stream.push(event);
    if (event.type !== 'pause') return;
    // tmux has dropped what the pane printed meanwhile: say so, and go on from here.
    for (const stream of this.#streams)
      stream.push({ type: 'gap', reason: 'paused', dropped: 0, paneId: event.paneId });
    void this.#command(['refresh-client', '-A', `${event.paneId}:continue`]).catch(() => undefined); // Lost: reconnecting resumes it too.
  }

  #command(argv: readonly string[]): Promise<Reply> {
    return new Promise((resolve, reject) => {
      const lose = (): void =>
        reject(
          new TmuxError('connection_lost', `The event connection ended before ${argv[0]} was answered.`, {
            argv,
          }),
        );
      if (!this.#connection) return lose();
      const read = createNoticeReader(
        (event) => this.#emit(event),
        (type) => this.#wants(type),
      );
      this.#connection.send(quoteLine(argv), {
        settle: (frame) => {
          // Up to 3.7 tmux puts %pause and %continue inside the reply that caused them.
          const { blocks, notices } = readFrame(frame);
          for (const line of blocks.flatMap((block) => block.lines)) if (line.startsWith('%')) read(line);
          for (const line of notices) read(line);
          resolve(replyOf(frame));
        },
        lose,
      });
    });
  }
}

/** A format that stands inside another: a plain text would be taken for the name of a variable there. */
function nested(format: string): string {
  return format.includes('#{') ? format : `#{l:${format}}`;
}

/** As long, or until it is over: whoever waits looks at that next. */
function delay(ms: number, signal: AbortSignal): Promise<void> {
  return setTimeout(ms, undefined, { signal }).catch(() => undefined);
}
