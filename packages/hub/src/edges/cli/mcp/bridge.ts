import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { conversationIn, environmentToPass, PolyError, withFullStop } from '@polyphony/protocol';
import { LineReader } from '../../line-reader.ts';
import { answeredBy } from '../../mcp/answer-line.ts';
import { farewell, lineProtocol } from '../../mcp/line-protocol.ts';
import type { Env } from '../env.ts';
import { converseWithHub, openDoor } from '../find-hub.ts';
import { Conversation, type Message } from './conversation.ts';
import { findPane, findTmux } from './find-caller.ts';

/** What may be otherwise a little later. */
const passing: ReadonlySet<string> = new Set(['unreachable', 'stopping', 'timed_out', 'too_many_requests']);
const retryMs = 100;
const restartMs = 1_000;
/** How long a call waits for a hub that is away. */
const patienceMs = 15_000;
/** How often a hub that owes an answer is asked whether it lives. */
const lifeSignMs = 5_000;
/** How long the end of the input waits for the answers that are owed. */
const lastAnswersMs = 10_000;
const longestLine = 1024 * 1024;

/** Carries MCP between an agent's pipe and the hub, over restarts of the hub. It knows no tool. */
export class McpBridge {
  readonly #env: Env;
  readonly #path: string;
  readonly #start: () => Promise<unknown>;
  readonly #conversation = new Conversation();
  /** Found once: the processes above this one may end before it does. */
  readonly #where: ReturnType<typeof findTmux> & { readonly pane?: string | undefined };
  /** How far the agent has read of each pane, as the hub says it: the next hub is told. */
  readonly #cursors = new Map<string, number>();
  /** Which agent it has registered as, as the hub says it: the next hub is told. */
  #pass: string | undefined;
  /** Open, and greeted. */
  #socket: Socket | undefined;
  #over = false;

  /** `start` starts a hub where none runs. */
  constructor(env: Env, path: string, start: () => Promise<unknown>) {
    this.#env = env;
    this.#path = path;
    this.#start = start;
    this.#where = { ...findTmux(env), pane: findPane(env) };
  }

  /** Settles when the agent has closed its end; fails when the hub refuses this client. */
  async run(): Promise<void> {
    const connected = this.#stayConnected();
    const lines = new LineReader((line) => this.#say(line));
    const input = process.stdin.on('data', (chunk: Buffer) => lines.push(chunk));
    const ended = new Promise<void>((resolve) => input.once('close', resolve).once('end', resolve));
    try {
      await Promise.race([ended.then(() => this.#lastAnswers()), connected]);
    } catch (error) {
      this.#giveUp(`The hub will not have this client any longer: ${reasonOf(error)} Tell your user.`);
      throw error;
    } finally {
      this.#over = true;
      // An input that is still open would keep this process, of which nothing is left to be had.
      input.destroy();
      this.#socket?.destroy();
    }
  }

  async #lastAnswers(): Promise<void> {
    const until = performance.now() + lastAnswersMs;
    while (!this.#conversation.isIdle && performance.now() < until) await sleep(retryMs);
  }

  async #stayConnected(): Promise<void> {
    let awaySince = performance.now();
    /** Since when somebody waits for a hub, and whether one was started for them. */
    let waits: { readonly since: number; isTried: boolean } | undefined;
    while (!this.#over) {
      try {
        await this.#connect();
        awaySince = performance.now();
        waits = undefined;
        for (const { id, tool } of this.#conversation.lose()) this.#refuse(id, lostText(tool));
      } catch (error) {
        if (!(error instanceof PolyError && passing.has(error.code))) throw error;
        const now = performance.now();
        if (this.#conversation.isIdle) waits = undefined;
        else waits ??= { since: now, isTried: false };
        const isStopped = isSilent(error);
        // One that is restarted comes by itself; one that was killed does not, and somebody calls.
        if (waits && !isStopped && !waits.isTried && now - awaySince > restartMs) {
          waits.isTried = true;
          const why = await this.#start().then(nothing, reasonOf);
          if (why !== undefined) waits = this.#giveUp(`${notStarted} ${why} ${userCan}`);
        } else if (waits && (isStopped || now - waits.since > patienceMs))
          waits = this.#giveUp(`${withFullStop(error.message)} ${isStopped ? userCanWake : userCan}`);
      }
      if (!this.#over) await sleep(retryMs);
    }
  }

  /** Settles when the connection has ended; fails when it could not be made, or the hub will have no other. */
  async #connect(): Promise<void> {
    const { socket, rest } = await converseWithHub(this.#env, this.#path, lineProtocol);
    if (this.#over) return void socket.destroy();
    let end: Farewell | undefined;
    const lines = new LineReader((line) => {
      end = this.#hear(line) ?? end;
    });
    const ended = new Promise<void>((resolve) => socket.on('error', () => undefined).once('close', resolve));
    lines.push(rest);
    socket.on('data', (chunk: Buffer) => lines.push(chunk)).resume();
    socket.write(`${JSON.stringify(this.#greeting())}\n`);
    for (const line of this.#conversation.resume()) socket.write(line);
    this.#socket = socket;
    const look = setInterval(() => this.#look(socket), lifeSignMs);
    await ended;
    clearInterval(look);
    this.#socket = undefined;
    const [code = 0, reason = ''] = end ?? [];
    if (notUnderstood.has(code)) this.#giveUp(unreadText);
    if (code === farewell.refused) throw new PolyError('invalid_arguments', reason);
  }

  /** A hub that is stopped keeps its connections: they are let go, so that nobody waits for it. */
  #look(socket: Socket): void {
    if (this.#conversation.isIdle) return;
    openDoor(this.#env).catch((error: unknown) => {
      if (isSilent(error)) socket.destroy();
    });
  }

  /** Who this is, for a hub that may never have heard of it. */
  #greeting(): object {
    const conversation = conversationIn(this.#env);
    return {
      ...{ cwd: process.cwd(), env: environmentToPass(this.#env), ...this.#where },
      ...(conversation && { conversation }),
      ...{ cursors: Object.fromEntries(this.#cursors), pass: this.#pass },
    };
  }

  #say(line: Buffer): void {
    const message = readMessage(line.toString('utf8'));
    if (message === 'empty') return;
    if (message === undefined) {
      this.#answer(failure(null, -32700, 'Parse error: one message of JSON a line.'));
      return;
    }
    if (line.length > longestLine) {
      const text = `A message has at most ${longestLine} bytes, this one ${line.length}.`;
      this.#answer(failure(message.id ?? null, -32600, text));
      return;
    }
    this.#conversation.say(line, message);
    // What is said before somebody listens is said when somebody does.
    this.#socket?.write(line);
  }

  /** An answer is passed on as the bytes it came in: an agent may be told much. What the hub says last is answered. */
  #hear(line: Buffer): Farewell | undefined {
    const id = answeredBy(line);
    const message: Heard = id === undefined ? JSON.parse(line.toString('utf8')) : { id };
    if ('end' in message) return message.end;
    if ('cursor' in message) this.#cursors.set(...message.cursor);
    else if ('pass' in message) this.#pass = message.pass;
    else if ('readers' in message) this.#conversation.know(message.readers);
    else if (this.#conversation.hear(message)) process.stdout.write(line);
    return undefined;
  }

  #giveUp(text: string): undefined {
    for (const { id, isCall } of this.#conversation.giveUp()) {
      if (isCall) this.#refuse(id, text);
      else this.#answer(failure(id, -32603, text));
    }
  }

  #refuse(id: string | number, text: string): void {
    const kind = this.#conversation.isLegacy ? {} : { resultType: 'complete' };
    this.#answer({ id, result: { ...kind, isError: true, content: [{ type: 'text', text }] } });
  }

  #answer(message: object): void {
    process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  }
}

type Farewell = readonly [code: number, reason: string];

/** What the hub says: messages for the agent, and four that are for this. */
type Heard =
  | Message
  | { readonly cursor: readonly [string, number] }
  | { readonly pass: string }
  | { readonly readers: readonly string[] }
  | { readonly end: Farewell };

/** What would be no better if it were said again. */
const notUnderstood: ReadonlySet<number> = new Set([farewell.notUnderstood, farewell.tooLarge]);
const unreadText =
  'The hub could not read one of your messages, and does not know which: call again, one by one.';

function readMessage(line: string): Message | 'empty' | undefined {
  try {
    const message: unknown = JSON.parse(line);
    return typeof message === 'object' && message !== null && !Array.isArray(message) ? message : undefined;
  } catch {
    return line.trim() === '' ? 'empty' : undefined; // What is no JSON is answered as such.
  }
}

const failure = (id: string | number | null, code: number, message: string): object => ({
  id,
  error: { code, message },
});

const isSilent = (error: unknown): boolean => error instanceof PolyError && error.code === 'timed_out';

const userCanWake = 'Your user can let it go on, or end it and start another with poly up; then call again.';
const userCan = 'Your user can start one with poly up; then call again.';
const notStarted = 'no hub is running, and none could be started:';
const nothing = (): undefined => undefined;

const reasonOf = (error: unknown): string =>
  withFullStop(error instanceof Error ? error.message : String(error));

const lostText = (tool: string): string =>
  `The hub was lost while ${tool} ran: it may have happened or not. Look first what there is now; then call again if need be.`;
