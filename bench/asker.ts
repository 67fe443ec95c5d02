import { connect, type Socket } from 'node:net';
import type { TestHub } from '../packages/hub/test/test-hub.ts';

const headEnd = Buffer.from('\r\n\r\n');

interface Answer {
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: Error) => void;
}

/** Asks for actions over connections that are kept, and costs next to nothing: what is measured is the hub. */
export class Asker {
  readonly #hub: TestHub;
  readonly #token: string;
  readonly #idle: Connection[] = [];

  constructor(hub: TestHub, token = hub.token) {
    this.#hub = hub;
    this.#token = token;
  }

  readonly ask = async (action: string, params: object): Promise<unknown> => {
    const connection = this.#idle.pop() ?? new Connection(this.#hub.socket);
    const body = JSON.stringify(params);
    const head = `POST /action/${action} HTTP/1.1\r\nhost: poly\r\nauthorization: Bearer ${this.#token}\r\ncontent-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}`;
    const result = await connection.ask(`${head}\r\n\r\n${body}`);
    this.#idle.push(connection);
    return result;
  };

  close(): void {
    for (const connection of this.#idle) connection.close();
  }
}

/** One request at a time. */
class Connection {
  readonly #socket: Socket;
  #come = Buffer.alloc(0);
  #waiting: Answer | undefined;

  constructor(path: string) {
    this.#socket = connect(path);
    this.#socket.on('data', (chunk) => {
      this.#come = this.#come.length === 0 ? chunk : Buffer.concat([this.#come, chunk]);
      this.#read();
    });
    this.#socket.on('close', () => this.#waiting?.reject(new Error('the hub closed the connection')));
    this.#socket.on('error', (error) => this.#waiting?.reject(error));
  }

  ask(request: string): Promise<unknown> {
    const { promise, resolve, reject } = Promise.withResolvers<unknown>();
    this.#waiting = { resolve, reject };
    this.#socket.write(request);
    return promise;
  }

  close(): void {
    this.#waiting = undefined;
    this.#socket.destroy();
  }

  #read(): void {
    const end = this.#come.indexOf(headEnd);
    if (end < 0) return;
    const head = this.#come.toString('latin1', 0, end);
    const from = end + headEnd.length;
    const to = from + Number(/content-length: (\d+)/i.exec(head)?.[1]);
    if (this.#come.length < to) return;
    const text = this.#come.toString('utf8', from, to);
    this.#come = this.#come.subarray(to);
    if (head.startsWith('HTTP/1.1 200')) this.#waiting?.resolve(JSON.parse(text));
    else this.#waiting?.reject(new Error(text));
  }
}
