import { readFile } from 'node:fs/promises';
import type { Socket } from 'node:net';
import { errnoOf, memorySink, openFileSink, type Sink } from './files.ts';
import { fileMessages } from './messages.ts';
import { encodeInts, encodeMessage, intAt, type Layout, MessageReader, messageType, textAt } from './wire.ts';

export type Ending =
  | { readonly kind: 'answered'; readonly code: number; readonly stdout: string; readonly stderr: string }
  /** Nothing listens on the socket, and nothing was sent. */
  | { readonly kind: 'unreachable' }
  /** The connection ended after the command was sent and before it was answered. */
  | { readonly kind: 'lost' };

const standard = { input: 0, output: 1, error: 2 } as const;

/**
 * Carries one command over one connection, as tmux's own client does: the server asks this end to open, read and
 * write files, its standard streams among them, and says at last how the command ended.
 */
export class Conversation {
  readonly #socket: Socket;
  readonly #layout: Layout;
  readonly #input: Uint8Array;
  readonly #stdout: Buffer[] = [];
  readonly #stderr: Buffer[] = [];
  readonly #sinks = new Map<number, Sink>();
  #code: number | null = null;

  constructor(socket: Socket, layout: Layout, input: Uint8Array) {
    this.#socket = socket;
    this.#layout = layout;
    this.#input = input;
  }

  /** Sends the command and follows it to its end; rejects when what comes back is not this protocol. */
  run(sent: Buffer): Promise<Ending> {
    const reader = new MessageReader(this.#layout);
    const socket = this.#socket;
    let connected = false;
    let refused = false;
    return new Promise((resolve, reject) => {
      socket.on('connect', () => {
        connected = true;
        socket.write(sent);
      });
      socket.on('data', (chunk) => {
        try {
          for (const { type, data } of reader.push(chunk)) this.#handlers[type]?.(data);
        } catch (error) {
          reject(error);
          socket.destroy();
        }
      });
      socket.on('error', () => {
        refused = !connected; // After that, an error only announces the close.
      });
      socket.on('close', () => resolve(refused ? { kind: 'unreachable' } : this.#ending()));
    });
  }

  readonly #handlers: Readonly<Record<number, (data: Buffer) => void>> = {
    [messageType.writeOpen]: (data) => void this.#openSink(data),
    [messageType.write]: (data) => this.#sinks.get(intAt(data, 0))?.write(data.subarray(4)),
    [messageType.writeClose]: (data) => void this.#closeSink(this.#sinks.get(intAt(data, 0))),
    [messageType.readOpen]: (data) => void this.#sendFile(data),
    [messageType.exit]: (data) => this.#leave(data),
    [messageType.shutdown]: (data) => this.#leave(data),
    [messageType.exited]: () => void this.#socket.destroy(),
  };

  /** The server lets go only after this word of ours. */
  #leave(data: Buffer): void {
    this.#code = intAt(data, 0);
    this.#send(messageType.exiting);
  }

  async #ending(): Promise<Ending> {
    await Promise.all([...this.#sinks.values()].map((sink) => this.#closeSink(sink)));
    if (this.#code === null) return { kind: 'lost' };
    const text = (pieces: readonly Buffer[]): string => Buffer.concat(pieces).toString('utf8');
    return { kind: 'answered', code: this.#code, stdout: text(this.#stdout), stderr: text(this.#stderr) };
  }

  async #openSink(data: Buffer): Promise<void> {
    const [stream, descriptor, flags] = [intAt(data, 0), intAt(data, 1), intAt(data, 2)];
    const pieces = { [standard.output]: this.#stdout, [standard.error]: this.#stderr }[descriptor];
    try {
      this.#sinks.set(stream, pieces ? memorySink(pieces) : await openFileSink(textAt(data, 12), flags));
      this.#send(messageType.writeReady, encodeInts(stream, 0));
    } catch (error) {
      this.#send(messageType.writeReady, encodeInts(stream, errnoOf(error)));
    }
  }

  async #closeSink(sink: Sink | undefined): Promise<void> {
    try {
      await sink?.close();
    } catch (error) {
      this.#stderr.push(Buffer.from(`${String(error)}\n`));
    }
  }

  async #sendFile(data: Buffer): Promise<void> {
    const [stream, descriptor] = [intAt(data, 0), intAt(data, 1)];
    try {
      const bytes = descriptor === standard.input ? this.#input : await readFile(textAt(data, 8));
      for (const message of fileMessages(stream, bytes, this.#layout)) this.#write(message);
    } catch (error) {
      this.#send(messageType.readDone, encodeInts(stream, errnoOf(error)));
    }
  }

  #send(type: number, data?: Buffer): void {
    this.#write(encodeMessage(type, data, this.#layout));
  }

  /** After the end there is nobody to tell. */
  #write(message: Buffer): void {
    if (this.#socket.writable) this.#socket.write(message);
  }
}
