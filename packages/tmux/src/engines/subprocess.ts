import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import type { Command, ConnectionOptions, Engine, RunOptions } from '../engine.ts';
import { TmuxError } from '../errors.ts';
import { assertCommand } from '../operation/quote.ts';
import type { Reply } from '../operation/reply.ts';
import type { TmuxVersion } from '../operation/version.ts';
import { type Answer, type Marked, markedChain, markedCommand } from './chain.ts';
import { clientLine } from './client-line.ts';
import { Deadlines } from './deadline.ts';
import { binaryVersion, missingBinary, spawnTmux } from './tmux-process.ts';

/** One tmux process a call: slow, simple, and the only way to start a server or to wait without holding anybody up. */
export class SubprocessEngine implements Engine {
  readonly name = 'subprocess';
  readonly ordered = false;
  readonly #connection: ConnectionOptions;
  readonly #deadlines = new Deadlines();
  readonly #running = new Set<ChildProcess>();
  #closed = false;
  #version: Promise<TmuxVersion> | undefined;

  constructor(connection: ConnectionOptions = {}) {
    this.#connection = connection;
  }

  version(): Promise<TmuxVersion> {
    this.#version ??= binaryVersion(this.#connection);
    return this.#version;
  }

  async run(command: Command, options?: RunOptions): Promise<Reply> {
    assertCommand(command.argv);
    return this.#carry(command.argv, markedCommand(command), options);
  }

  async runChain(commands: readonly Command[], options?: RunOptions): Promise<readonly Reply[]> {
    for (const { argv } of commands) assertCommand(argv);
    if (commands.length === 0) return [];
    const argvs = commands.map(({ argv }) => argv);
    return this.#carry(argvs[0] ?? [], markedChain(argvs), options);
  }

  /** Ends the processes that still wait for something. */
  async close(): Promise<void> {
    this.#closed = true;
    const ending = [...this.#running].map((child) => once(child, 'close'));
    for (const child of this.#running) child.kill('SIGKILL');
    await Promise.all(ending);
  }

  async #carry<T>(argv: readonly string[], marked: Marked<T>, options: RunOptions = {}): Promise<T> {
    if (this.#closed) throw new TmuxError('engine_closed', 'This engine was closed.');
    const { words, input, read } = clientLine(marked);
    const answer = await this.#deadlines.run<Answer>(argv, options, (resolve, reject) => {
      const child = spawnTmux(this.#connection, [...(startsInVain(marked) ? ['-N'] : []), ...words]);
      this.#running.add(child);
      // Safe to ignore: a client that does not read its input has ended, and says itself why.
      child.stdin.on('error', () => undefined).end(input);
      const collect = (stream: NodeJS.ReadableStream): Buffer[] => {
        const chunks: Buffer[] = [];
        stream.on('data', (chunk: Buffer) => chunks.push(chunk));
        return chunks;
      };
      const [out, err] = [collect(child.stdout), collect(child.stderr)];
      const text = (chunks: Buffer[]): string => Buffer.concat(chunks).toString('utf8');
      child.on('error', (cause) => {
        this.#running.delete(child);
        reject(missingBinary(this.#connection, cause));
      });
      child.on('close', (code) => {
        this.#running.delete(child);
        resolve({ code, stdout: text(out), stderr: text(err) });
      });
      return (): void => void child.kill('SIGKILL');
    });
    return read(answer);
  }
}

/** tmux would start a server, and run its user's configuration, to show what a server knows. */
function startsInVain({ argvs }: Pick<Marked<unknown>, 'argvs'>): boolean {
  return argvs.length > 0 && argvs.every(([name = '']) => looksOnly.has(name));
}

const looksOnly: ReadonlySet<string> = new Set(['list-keys', 'list-commands', 'display-message']);
