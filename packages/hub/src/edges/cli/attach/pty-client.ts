import { spawnSync } from 'node:child_process';
import { constants } from 'node:os';
import { StringDecoder } from 'node:string_decoder';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Client, type ErrorInfo, type PaneInfo, PolyError, type PtySession } from '@polyphony/protocol';
import { WebSocket } from 'ws';
import type { Notice } from '../../../notices/notice.ts';
import { terminalNotice } from '../../../notices/terminal-notice.ts';
import type { Env } from '../env.ts';
import { openDoor } from '../find-hub.ts';
import { hubSocket } from '../hub-socket.ts';
import type { Output } from '../output.ts';
import { reviveHub } from '../start-hub.ts';
import { DetachKeys } from './detach-keys.ts';
import { BorrowedScreen, borrow, giveBack } from './replay.ts';

interface Around {
  readonly hub: Client;
  readonly env: Env;
  readonly out: Output;
}

/** How the showing of a pane ended. */
type End =
  | { readonly why: 'detached' }
  | { readonly why: 'exited'; readonly pane: PtySession }
  | { readonly why: 'signal'; readonly signal: NodeJS.Signals }
  | { readonly why: 'lost'; readonly error?: unknown };

const headerBytes = 12;
/** How much of the past is drawn again at most. */
const mostReplayed = 256 * 1024;
const patienceMs = 10_000;
/** In such a pause nothing is half drawn. */
const quietMs = 50;
const signals = ['SIGTERM', 'SIGHUP', 'SIGINT'] as const;

/** This terminal becomes the pane's until somebody detaches or its program ends. */
export async function attachPty(pane: PaneInfo, { hub, env, out }: Around): Promise<number> {
  const view = await PaneView.open(pane.id, hub);
  const end = await view.show(env);
  if (view.lostKeys) out.note('[keys typed while the hub was away were lost]');
  switch (end.why) {
    case 'detached':
      out.note(`[detached from ${pane.id}; it goes on]`);
      return 0;
    case 'exited':
      out.note(`[${pane.id} ended with ${end.pane.exitSignal ?? end.pane.exitCode ?? 'an unknown result'}]`);
      return 0;
    case 'signal':
      return 128 + constants.signals[end.signal];
    case 'lost':
      throw end.error instanceof PolyError
        ? end.error
        : new PolyError('unreachable', 'the hub is away.', { hint: 'Start it with: poly up' });
  }
}

/** One pane in this terminal: what has been shown of it, and the keys that leave it. */
class PaneView {
  readonly #paneId: string;
  readonly #hub: Client;
  readonly #screen: BorrowedScreen;
  readonly #keys = new DetachKeys();
  readonly #ended = Promise.withResolvers<End>();
  /** The next byte to show. */
  #offset: number;
  #socket: WebSocket | undefined;
  #over = false;
  #lostKeys = false;
  /** Of other agents that need somebody. */
  readonly #untold: Notice[] = [];
  #notifying: NodeJS.Timeout | undefined;

  private constructor(
    paneId: string,
    hub: Client,
    range: { from: number; next: number },
    alternate: boolean,
  ) {
    this.#paneId = paneId;
    this.#hub = hub;
    this.#offset = Math.max(range.from, range.next - mostReplayed);
    this.#screen = new BorrowedScreen(alternate);
  }

  /** Whether something was typed while nobody could take it. */
  get lostKeys(): boolean {
    return this.#lostKeys;
  }

  /** Begins so far back that the screen fills; a full-screen program draws itself anew at the change of size. */
  static async open(paneId: string, hub: Client): Promise<PaneView> {
    const { alternate } = await hub.call('pane:screen', { paneId });
    const range = await hub.call('pane:read', { paneId, tail: process.stdout.rows || 24, view: 'raw' });
    return new PaneView(paneId, hub, range, alternate);
  }

  async show(env: Env): Promise<End> {
    const { stdin, stdout } = process;
    const decoder = new StringDecoder('utf8');
    const onKeys = (bytes: Buffer): void => this.#type(decoder.write(bytes));
    const onResize = (): void => this.#resize();
    const onResume = (): void => {
      stdin.setRawMode(false); // Node takes the mode for what it set last, whatever a shell did meanwhile.
      takeTerminal();
      this.#resize();
    };
    const onSignal = (signal: NodeJS.Signals): void => this.#ended.resolve({ why: 'signal', signal });
    const onEndOfInput = (): void => this.#ended.resolve({ why: 'detached' });
    try {
      for (const signal of signals) process.on(signal, onSignal);
      process.on('SIGCONT', onResume);
      takeTerminal();
      stdout.write(borrow);
      stdin.on('data', onKeys).on('end', onEndOfInput);
      stdout.on('resize', onResize);
      void this.#stayConnected(env);
      return await this.#ended.promise;
    } finally {
      this.#over = true;
      clearTimeout(this.#notifying);
      this.#socket?.terminate();
      stdin.off('data', onKeys).off('end', onEndOfInput).pause();
      stdout.off('resize', onResize);
      process.off('SIGCONT', onResume);
      for (const signal of signals) process.off(signal, onSignal);
      stdout.write(giveBack());
      stdin.setRawMode(false);
    }
  }

  /** Connects, and again when the hub restarts or was killed; what it missed comes from the offset on. */
  async #stayConnected(env: Env): Promise<void> {
    let until = 0;
    while (!this.#over) {
      try {
        await this.#connect(await openDoor(env));
        until = performance.now() + patienceMs;
      } catch (error) {
        if (!isAway(error) || performance.now() > until) return this.#ended.resolve({ why: 'lost', error });
        await reviveHub(env).catch((why: unknown) => this.#ended.resolve({ why: 'lost', error: why }));
      }
      await sleep(100);
    }
  }

  /** Settles when the connection has ended; fails when it could not be made. */
  async #connect(door: Parameters<typeof hubSocket>[1]): Promise<void> {
    const socket = hubSocket('/ws', door);
    this.#socket = socket;
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    socket.on('open', () => {
      this.#send({ type: 'subscribe', sessionId: this.#paneId, from: this.#offset, binary: true });
      this.#send({ type: 'looking', sessionIds: [this.#paneId] });
      // Two changes of size, since a program draws itself anew only when there is one.
      if (this.#screen.alternate) this.#resize(-1);
      this.#resize();
    });
    socket.on('message', (data, binary) =>
      binary ? this.#draw(data as Buffer) : this.#hear(JSON.parse(String(data)) as Message),
    );
    socket.on('error', (cause) =>
      reject(new PolyError('unreachable', `the hub is away: ${cause.message}`, { cause })),
    );
    socket.on('close', () => resolve());
    await promise;
  }

  #draw(frame: Buffer): void {
    if (this.#untold.length > 0) this.#notifying?.refresh();
    const at = Number(frame.readBigUInt64BE(4));
    const bytes = frame.subarray(headerBytes);
    process.stdout.write(this.#screen.take(bytes));
    this.#offset = at + bytes.length;
  }

  #hear(message: Message): void {
    if (message.type === 'subscribed') return;
    if (message.type === 'notice') {
      this.#notify(message.notice);
      return;
    }
    if (message.type === 'error') {
      // A key that came too late: the end of the program is told apart.
      if (message.code !== 'pane_exited')
        this.#ended.resolve({ why: 'lost', error: PolyError.from(message) });
      return;
    }
    const told = message.type === 'session_update' ? [message.session] : message.sessions;
    const pane = told.find(({ id }) => id === this.#paneId);
    if (pane && pane.status !== 'running') void this.#finish(pane);
    else if (!pane && message.type === 'session_list')
      this.#ended.resolve({
        why: 'lost',
        error: new PolyError('not_found', `pane ${this.#paneId} is gone.`),
      });
  }

  /** Tells this terminal of another agent, between two things that are drawn: an order of theirs may be in two pieces. */
  #notify(notice: Notice): void {
    clearTimeout(this.#notifying);
    this.#untold.push(notice);
    this.#notifying = setTimeout(() => {
      const { TERM_PROGRAM = '', TERM = '' } = process.env;
      for (const one of this.#untold.splice(0))
        process.stdout.write(terminalNotice(`${TERM_PROGRAM} ${TERM}`, one));
    }, quietMs);
  }

  /** The end of a program may be known before its last words are here. */
  async #finish(pane: PtySession): Promise<void> {
    try {
      const { next } = await this.#hub.call('pane:read', { paneId: this.#paneId, tail: 0 });
      for (let look = 0; look < 50 && this.#offset < next; look++) await sleep(20);
    } catch {
      // Closed with clean-up: there is nothing left to wait for.
    }
    this.#ended.resolve({ why: 'exited', pane });
  }

  #type(text: string): void {
    const { text: data, detach } = this.#keys.take(text);
    if (data !== '' && !this.#send({ type: 'input', sessionId: this.#paneId, data })) {
      this.#lostKeys = true;
      process.stdout.write('\x07');
    }
    if (detach) this.#ended.resolve({ why: 'detached' });
  }

  #resize(more = 0): void {
    const { columns: cols, rows } = process.stdout;
    if (cols > 0 && rows > 1)
      this.#send({ type: 'resize', sessionId: this.#paneId, cols, rows: rows + more });
  }

  /** Answers whether there is somebody to send it to. */
  #send(message: object): boolean {
    if (this.#socket?.readyState !== WebSocket.OPEN) return false;
    this.#socket.send(JSON.stringify(message));
    return true;
  }
}

type Message =
  | { readonly type: 'session_update'; readonly session: PtySession }
  | { readonly type: 'session_list'; readonly sessions: readonly PtySession[] }
  | ({ readonly type: 'error' } & ErrorInfo)
  | { readonly type: 'notice'; readonly notice: Notice }
  | { readonly type: 'subscribed' };

/** Node's raw mode still turns LF into CR LF, which a program that moves its cursor with LF does not survive. */
function takeTerminal(): void {
  process.stdin.setRawMode(true);
  spawnSync('stty', ['-opost'], { stdio: ['inherit', 'ignore', 'ignore'] });
}

function isAway(error: unknown): boolean {
  return error instanceof PolyError && error.code === 'unreachable';
}
