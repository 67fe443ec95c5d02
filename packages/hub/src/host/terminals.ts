import { extname } from 'node:path';
import { Worker } from 'node:worker_threads';
import { HostError } from './host-error.ts';
import type { TerminalNews, TerminalRequest, TerminalReset, TerminalView } from './terminal-thread.ts';

/** A terminal on the thread of the screens. What is asked of it happens in the order it was asked for. */
export interface RemoteTerminal {
  /** Settles when the bytes are drawn; they may be used again at once. */
  write(bytes: Uint8Array): Promise<void>;
  look(): Promise<TerminalView>;
  resize(cols: number, rows: number): void;
  /** Forgets what it shows, after it has answered what it is asked. */
  reset(state: TerminalReset): void;
  close(): void;
}

interface Pending {
  resolve(view: TerminalView | undefined): void;
  reject(error: HostError): void;
}

/** Draws screens beside everything else: however much there is to draw, the host goes on. */
export class Terminals {
  #worker: Worker | null = null;
  #numbers = 0;
  #turns = 0;
  readonly #pending = new Map<number, Pending>();
  readonly #answers = new Map<number, (text: string) => void>();

  /** `onAnswer` hears what the terminal answers to what the program has asked it. */
  open(
    size: { readonly cols: number; readonly rows: number },
    onAnswer: (text: string) => void,
  ): RemoteTerminal {
    const terminal = ++this.#numbers;
    this.#answers.set(terminal, onAnswer);
    this.#post({ terminal, open: size });
    return {
      write: async (bytes) => {
        const copy = new Uint8Array(bytes);
        await this.#ask((turn) => ({ terminal, turn, write: copy }), [copy.buffer]);
      },
      look: async () => {
        const view = await this.#ask((turn) => ({ terminal, turn, look: true }));
        if (view) return view;
        throw lost();
      },
      resize: (cols, rows) => this.#post({ terminal, resize: { cols, rows } }),
      reset: (reset) => this.#post({ terminal, reset }),
      close: () => {
        this.#answers.delete(terminal);
        this.#post({ terminal, close: true });
      },
    };
  }

  #ask(
    request: (turn: number) => TerminalRequest,
    given: readonly ArrayBuffer[] = [],
  ): Promise<TerminalView | undefined> {
    const turn = ++this.#turns;
    const { promise, resolve, reject } = Promise.withResolvers<TerminalView | undefined>();
    this.#pending.set(turn, { resolve, reject });
    this.#post(request(turn), given);
    return promise;
  }

  #post(request: TerminalRequest, given: readonly ArrayBuffer[] = []): void {
    this.#worker ??= this.#start();
    this.#worker.postMessage(request, given);
  }

  /** Not before somebody looks: a host without screens should not carry it. */
  #start(): Worker {
    const worker = new Worker(threadFile);
    worker.unref();
    worker.on('message', (news: TerminalNews) => {
      if ('answer' in news) return this.#answers.get(news.terminal)?.(news.answer);
      this.#pending.get(news.turn)?.resolve(news.view);
      this.#pending.delete(news.turn);
    });
    worker.on('error', (error) => this.#lose(error));
    return worker;
  }

  /** Screens are made anew when somebody looks again. */
  #lose(error: Error): void {
    console.error(error);
    this.#worker = null;
    for (const { reject } of this.#pending.values()) reject(lost());
    this.#pending.clear();
    this.#answers.clear();
  }
}

const threadFile = new URL(`./terminal-thread${extname(import.meta.url)}`, import.meta.url);

function lost(): HostError {
  return new HostError('internal', 'The thread that draws screens has failed.');
}
