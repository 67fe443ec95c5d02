import { constants, existsSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import type { AgentReason, AgentStatus } from '@polyphony/protocol';
import { environmentOf, processesBelow } from '../processes.ts';
import type { VendorName } from '../vendors/vendor.ts';
import type { Signal } from './signal.ts';

interface Rule {
  readonly status: AgentStatus;
  readonly reason?: AgentReason;
}

/** Where an agent writes down what it does, and its words for it. Nobody promises these files: they may be missing. */
interface SessionFiles {
  /** By the variables of the agent's process. */
  readonly folder: (env: Readonly<Record<string, string>>) => string;
  readonly states: Readonly<Record<string, Rule>>;
  /** What it waits for, by the word in `waitingFor`. */
  readonly waiting: readonly (readonly [word: RegExp, reason: AgentReason])[];
}

const files: Partial<Readonly<Record<VendorName, SessionFiles>>> = {
  claude: {
    folder: (env) => join(env.CLAUDE_CONFIG_DIR || join(env.HOME || homedir(), '.claude'), 'sessions'),
    states: { idle: { status: 'idle' }, busy: { status: 'running' }, waiting: { status: 'blocked' } },
    waiting: [
      [/permission/, { kind: 'permission' }],
      [/input/, { kind: 'question' }],
      [/./, { kind: 'dialog' }],
    ],
  },
};

/** The file in which an agent says what it does, named by its process. */
export class SessionFile {
  readonly #files: SessionFiles;
  readonly #pid: number;
  #file: string | undefined;

  private constructor(found: SessionFiles, pid: number) {
    this.#files = found;
    this.#pid = pid;
  }

  static of(vendor: VendorName, pid: number): SessionFile | undefined {
    const found = files[vendor];
    return found && pid > 0 ? new SessionFile(found, pid) : undefined;
  }

  /** Which conversation it was in when it was last read. */
  sessionId: string | null = null;

  /** What it says now; undefined when there is none, or it says nothing that is known. */
  async read(): Promise<Omit<Signal, 'from' | 'at' | 'seen'> | undefined> {
    this.#file ??= this.#find();
    if (this.#file === undefined) return undefined;
    try {
      const { status, waitingFor, sessionId } = JSON.parse(await readSmall(this.#file)) as Record<
        string,
        unknown
      >;
      this.sessionId = typeof sessionId === 'string' ? sessionId : null;
      return this.#understand(String(status), typeof waitingFor === 'string' ? waitingFor : '');
    } catch {
      this.#file = undefined; // It has ended, or another of its processes goes on.
      return undefined;
    }
  }

  #understand(word: string, waitingFor: string): Omit<Signal, 'from' | 'at' | 'seen'> | undefined {
    const rule = Object.hasOwn(this.#files.states, word) ? this.#files.states[word] : undefined;
    if (!rule) return undefined;
    const reason = this.#files.waiting.find(([pattern]) => pattern.test(waitingFor))?.[1] ?? {
      kind: 'dialog',
    };
    const evidence = `session file: ${word}${waitingFor && `, ${waitingFor}`}`;
    return { ...rule, evidence, ...(rule.status === 'blocked' && { reason }) };
  }

  /** That of the pane's own process, or of one below it: it may have been started by npx or a shell. */
  #find(): string | undefined {
    return processesBelow(this.#pid)
      .map((pid) => join(this.#files.folder(environmentOf(pid)), `${pid}.json`))
      .find((file) => existsSync(file));
  }
}

const mostBytes = 64 * 1024;

/** Another program wrote it: a pipe would be waited for, and a flood would fill the memory. */
async function readSmall(path: string): Promise<string> {
  const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    const stat = await file.stat();
    if (!stat.isFile() || stat.size > mostBytes) throw new Error(`${path} is no session file`);
    return await file.readFile('utf8');
  } finally {
    await file.close();
  }
}
