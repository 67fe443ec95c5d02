import type { Command, Engine, RunOptions } from '../../engine.ts';
import { TmuxError } from '../../errors.ts';
import { assertCommand } from '../../operation/quote.ts';
import { type Reply, skippedReply } from '../../operation/reply.ts';
import { parseVersion, type TmuxVersion } from '../../operation/version.ts';
import { bufferCommands } from './buffer-commands.ts';
import { clientCommands } from './client-commands.ts';
import {
  type Arguments,
  CommandFailure,
  type CommandTable,
  type MemoryCommand,
  readArguments,
} from './command.ts';
import { optionCommands } from './option-commands.ts';
import { paneCommands } from './pane-commands.ts';
import { MemoryServer } from './server.ts';
import { sessionCommands } from './session-commands.ts';
import { textCommands } from './text-commands.ts';
import { windowCommands } from './window-commands.ts';

export interface MemoryOptions {
  /** The tmux to stand for. */
  readonly version?: string;
  readonly now?: () => number;
}

interface Parsed {
  readonly command: MemoryCommand;
  readonly args: Arguments;
}

const commands: CommandTable = {
  ...sessionCommands,
  ...windowCommands,
  ...paneCommands,
  ...textCommands,
  ...bufferCommands,
  ...optionCommands,
  ...clientCommands,
};

const defaultVersion = '3.6';

/**
 * A tmux server that is only remembered: sessions, windows, panes, options and buffers behave and fail as tmux's do,
 * and nothing is started. What it does not know it refuses in tmux's words.
 *
 * @example const engine = new MemoryEngine({ version: '3.4' });
 */
export class MemoryEngine implements Engine {
  readonly name = 'memory';
  readonly ordered = true;
  readonly #version: TmuxVersion;
  readonly #now: () => number;
  #server: MemoryServer;
  #closed = false;

  constructor({ version = defaultVersion, now = Date.now }: MemoryOptions = {}) {
    this.#version = parseVersion(version);
    this.#now = now;
    this.#server = new MemoryServer(this.#version, now);
  }

  async version(): Promise<TmuxVersion> {
    return this.#version;
  }

  async run(command: Command, options: RunOptions = {}): Promise<Reply> {
    const [reply] = await this.runChain([command], options);
    return reply ?? skippedReply;
  }

  async runChain(chain: readonly Command[], { signal }: RunOptions = {}): Promise<readonly Reply[]> {
    for (const { argv } of chain) assertCommand(argv);
    if (this.#closed) throw new TmuxError('engine_closed', 'This engine was closed.');
    if (signal?.aborted)
      throw new TmuxError(
        'aborted',
        `${chain[0]?.argv[0]} was aborted before it was sent.`,
        {},
        signal.reason,
      );
    const line = attempt(() => chain.map(({ argv }) => this.#parse(argv)));
    if ('failed' in line) return chain.map(() => line.failed);
    if (!this.#server.isRunning && !line.value.some(({ command }) => command.starts)) {
      return chain.map(() => failure('no server running on memory'));
    }
    let stopped = false;
    return line.value.map((parsed) => {
      if (stopped) return skippedReply;
      const reply = this.#execute(parsed);
      stopped = reply.status === 'failed';
      return reply;
    });
  }

  async close(): Promise<void> {
    this.#closed = true;
  }

  readonly #killServer: MemoryCommand = {
    flags: '',
    run: () => {
      this.#server = new MemoryServer(this.#version, this.#now);
      return undefined;
    },
  };

  #parse(argv: readonly string[]): Parsed {
    const [name = ''] = argv;
    const command =
      name === 'kill-server' ? this.#killServer : Object.hasOwn(commands, name) ? commands[name] : undefined;
    if (!command) throw new CommandFailure(`unknown command: ${name}`);
    return { command, args: readArguments(argv, command) };
  }

  #execute({ command, args }: Parsed): Reply {
    const ran = attempt(() => command.run(this.#server, args) ?? '');
    // With its last session a server ends, and the next one starts from nothing.
    if (!this.#server.isRunning) this.#server = new MemoryServer(this.#version, this.#now);
    return 'failed' in ran ? ran.failed : { status: 'complete', stdout: ran.value, stderr: '' };
  }
}

function attempt<T>(work: () => T): { readonly value: T } | { readonly failed: Reply } {
  try {
    return { value: work() };
  } catch (error) {
    if (error instanceof CommandFailure) return { failed: failure(error.message) };
    throw error;
  }
}

function failure(text: string): Reply {
  return { status: 'failed', stdout: '', stderr: `${text}\n` };
}
