import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { conversationIn, environmentToPass, PolyError } from '@polyphony/protocol';
import type { WebSocket } from 'ws';
import { answeredBy } from '../../mcp/answer-line.ts';
import type { Env } from '../env.ts';
import { openDoor } from '../find-hub.ts';
import { hubSocket } from '../hub-socket.ts';
import { Conversation, type Message } from './conversation.ts';
import { findTmux, type InTmux } from './find-tmux.ts';

const retryMs = 100;
const restartMs = 1_000;
/** How long a call waits for a hub that is away. */
const patienceMs = 15_000;
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
  readonly #inTmux: InTmux;
  /** How far the agent has read of each pane, as the hub says it: the next hub is told. */
  readonly #cursors = new Map<string, number>();
  /** Which agent it has registered as, as the hub says it: the next hub is told. */
  #pass: string | undefined;
  #socket: WebSocket | undefined;
  #over = false;

  /** `start` starts a hub where none runs. */
  constructor(env: Env, path: string, start: () => Promise<unknown>) {
    this.#env = env;
    this.#path = path;
    this.#start = start;
    this.#inTmux = findTmux(env);
  }

  /** Settles when the agent has closed its end; fails when the hub refuses this client. */
  async run(): Promise<void> {
    const connected = this.#stayConnected();
    const input = createInterface({ input: process.stdin, crlfDelay: Number.POSITIVE_INFINITY });
    input.on('line', (line) => this.#say(line));
    const ended = new Promise<void>((resolve) => input.once('close', resolve));
    await Promise.race([ended.then(() => this.#lastAnswers()), connected]);
    this.#over = true;
    input.close();
    this.#socket?.terminate();
  }

  async #lastAnswers(): Promise<void> {
    const until = performance.now() + lastAnswersMs;
    while (!this.#conversation.isIdle && performance.now() < until) await sleep(retryMs);
  }

  async #stayConnected(): Promise<void> {
    let awaySince = performance.now();
    let isStarted = false;
    while (!this.#over) {
      try {
        await this.#connect();
        awaySince = performance.now();
        isStarted = false;
        for (const { id, tool } of this.#conversation.lose()) this.#refuse(id, lostText(tool));
      } catch (error) {
        if (!(error instanceof PolyError && ['unreachable', 'stopping'].includes(error.code))) throw error;
        // One that is restarted comes by itself; one that was killed does not, and somebody calls.
        if (!isStarted && !this.#conversation.isIdle && performance.now() - awaySince > restartMs) {
          isStarted = true;
          await this.#start().catch(() => undefined); // Then there is none, which is told below.
        } else if (performance.now() - awaySince > patienceMs) {
          const text = `${error.message} ${error.info.hint ?? ''} Your user can do that; then call again.`;
          this.#giveUp(text);
        }
      }
      if (!this.#over) await sleep(retryMs);
    }
  }

  /** Settles when the connection has ended; fails when it could not be made. */
  async #connect(): Promise<void> {
    const door = await openDoor(this.#env);
    if (this.#over) return;
    const socket = hubSocket(this.#path, door);
    this.#socket = socket;
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    socket.on('open', () => {
      const conversation = conversationIn(this.#env);
      const place = {
        ...{ cwd: process.cwd(), env: environmentToPass(this.#env), ...this.#inTmux },
        ...(conversation && { conversation }),
      };
      socket.send(JSON.stringify({ ...place, cursors: Object.fromEntries(this.#cursors), pass: this.#pass }));
      for (const line of this.#conversation.resume()) socket.send(line);
    });
    socket.on('message', (data) => this.#hear(data as Buffer));
    socket.on('error', (cause) =>
      reject(new PolyError('unreachable', `the hub is away: ${cause.message}.`, { cause })),
    );
    socket.on('close', (code, reason) => {
      if (notUnderstood.has(code)) {
        const text =
          'The hub could not read one of your messages, and does not know which: call again, one by one.';
        this.#giveUp(text);
      }
      if (code === policy) reject(new PolyError('invalid_arguments', String(reason)));
      else resolve();
    });
    await promise;
  }

  #say(line: string): void {
    if (line.trim() === '') return;
    const message = readMessage(line);
    if (message === undefined) {
      this.#answer(failure(null, -32700, 'Parse error: one message of JSON a line.'));
      return;
    }
    const bytes = Buffer.byteLength(line);
    if (bytes > longestLine) {
      const text = `A message has at most ${longestLine} bytes, this one ${bytes}.`;
      this.#answer(failure(message.id ?? null, -32600, text));
      return;
    }
    this.#conversation.say(line, message);
    // What is said before somebody listens is said when somebody does.
    // As bytes it goes out in one piece, as a text in two.
    if (this.#socket?.readyState === isOpen) this.#socket.send(Buffer.from(line), { binary: false });
  }

  /** An answer is passed on as the bytes it came in: an agent may be told much. */
  #hear(line: Buffer): void {
    const id = answeredBy(line);
    const message: Heard = id === undefined ? JSON.parse(String(line)) : { id };
    if ('cursor' in message) this.#cursors.set(...message.cursor);
    else if ('pass' in message) this.#pass = message.pass;
    else if ('readers' in message) this.#conversation.know(message.readers);
    else if (this.#conversation.hear(message)) process.stdout.write(line);
  }

  #giveUp(text: string): void {
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

/** What the hub says: messages for the agent, and three that are for this. */
type Heard =
  | Message
  | { readonly cursor: readonly [string, number] }
  | { readonly pass: string }
  | { readonly readers: readonly string[] };

const policy = 1008;
/** What would be no better if it were said again. */
const notUnderstood: ReadonlySet<number> = new Set([1002, 1003, 1007, 1009]);
const isOpen = 1;

function readMessage(line: string): Message | undefined {
  try {
    const message: unknown = JSON.parse(line);
    return typeof message === 'object' && message !== null && !Array.isArray(message) ? message : undefined;
  } catch {
    return undefined; // What is no JSON is answered as such.
  }
}

const failure = (id: string | number | null, code: number, message: string): object => ({
  id,
  error: { code, message },
});

const lostText = (tool: string): string =>
  `The hub ended while ${tool} ran: it may have happened or not. Look first what there is now; then call again if need be.`;
