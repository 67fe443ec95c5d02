import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import type { Command, ConnectionOptions, Engine, RunOptions } from '../engine.ts';
import { TmuxError } from '../errors.ts';
import { assertCommand, escapeArgument } from '../operation/quote.ts';
import type { Reply } from '../operation/reply.ts';
import type { TmuxVersion } from '../operation/version.ts';
import { markedChain } from './chain.ts';
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
    const { code, stdout, stderr } = await this.#spawn(command.argv.map(escapeArgument), options);
    return { status: code === 0 && stderr === '' ? 'complete' : 'failed', stdout, stderr };
  }

  async runChain(commands: readonly Command[], options?: RunOptions): Promise<readonly Reply[]> {
    for (const { argv } of commands) assertCommand(argv);
    const chain = markedChain(commands.map(({ argv }) => argv));
    const words = chain.argvs.flatMap((argv, i) => [...(i === 0 ? [] : [';']), ...argv.map(escapeArgument)]);
    const { code, stdout, stderr } = await this.#spawn(words, options);
    return chain.split(stdout, stderr, code !== 0 || stderr !== '');
  }

  /** Ends the processes that still wait for something. */
  async close(): Promise<void> {
    this.#closed = true;
    const ending = [...this.#running].map((child) => once(child, 'close'));
    for (const child of this.#running) child.kill('SIGKILL');
    await Promise.all(ending);
  }

  #spawn(
    words: readonly string[],
    options: RunOptions = {},
  ): Promise<{ code: number | null; stdout: string; stderr: string }> {
    if (this.#closed) return Promise.reject(new TmuxError('engine_closed', 'This engine was closed.'));
    return this.#deadlines.run(words, options, (resolve, reject) => {
      const child = spawnTmux(this.#connection, words);
      this.#running.add(child);
      child.stdin.end();
      const collect = (stream: NodeJS.ReadableStream): Buffer[] => {
        const chunks: Buffer[] = [];
        stream.on('data', (chunk: Buffer) => chunks.push(chunk));
        return chunks;
      };
      const [out, err] = [collect(child.stdout), collect(child.stderr)];
      const text = (chunks: Buffer[]): string => Buffer.concat(chunks).toString('utf8');
      child.on('error', (cause) => {
        this.#running.delete(child);
        reject(cause.message.includes('E2BIG') ? tooLong(words) : missingBinary(this.#connection, cause));
      });
      child.on('close', (code) => {
        this.#running.delete(child);
        const stderr = text(err);
        if (code !== 0 && stderr.startsWith('command too long')) reject(tooLong(words));
        else resolve({ code, stdout: text(out), stderr });
      });
      return (): void => void child.kill('SIGKILL');
    });
  }
}

/** A process hands its command to the server in one message of 16 KiB; a control connection knows no such limit. */
function tooLong(words: readonly string[]): TmuxError {
  const bytes = words.reduce((sum, word) => sum + Buffer.byteLength(word) + 1, 0);
  return new TmuxError(
    'too_long',
    `${words[0]} is ${bytes} bytes long, which is more than a tmux process can send.`,
    { bytes },
  );
}
