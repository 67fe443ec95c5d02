import type { Command, ConnectionOptions, Engine, RunOptions } from '../engine.ts';
import { assertCommand, escapeArgument } from '../quote.ts';
import type { Reply } from '../reply.ts';
import type { TmuxVersion } from '../version.ts';
import { markedChain } from './chain.ts';
import { Deadlines } from './deadline.ts';
import { binaryVersion, missingBinary, spawnTmux } from './tmux-process.ts';

/** One tmux process a call: slow, simple, and the only way to start a server or to wait without holding anybody up. */
export class SubprocessEngine implements Engine {
  readonly name = 'subprocess';
  readonly ordered = false;
  readonly #connection: ConnectionOptions;
  readonly #deadlines = new Deadlines();
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

  async close(): Promise<void> {}

  #spawn(
    words: readonly string[],
    options: RunOptions = {},
  ): Promise<{ code: number | null; stdout: string; stderr: string }> {
    return this.#deadlines.run(words, options, (resolve, reject) => {
      const child = spawnTmux(this.#connection, words);
      child.stdin.end();
      const collect = (stream: NodeJS.ReadableStream): Buffer[] => {
        const chunks: Buffer[] = [];
        stream.on('data', (chunk: Buffer) => chunks.push(chunk));
        return chunks;
      };
      const [out, err] = [collect(child.stdout), collect(child.stderr)];
      const text = (chunks: Buffer[]): string => Buffer.concat(chunks).toString('utf8');
      child.on('error', (cause) => reject(missingBinary(this.#connection, cause)));
      child.on('close', (code) => resolve({ code, stdout: text(out), stderr: text(err) }));
      return (): void => void child.kill('SIGKILL');
    });
  }
}
