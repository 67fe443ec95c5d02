import { randomUUID } from 'node:crypto';
import { mkdir, rename, utimes, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import type { Env } from './find-hub.ts';
import type { OpenCodeEvent } from './opencode.ts';
import { WhatWasSaid } from './what-was-said.ts';

/** The events that tell what an agent does; what only draws it, like a text that is not whole yet, is left out. */
const kept = new Set([
  ...['session.created', 'session.status', 'session.idle', 'session.error', 'session.compacted'],
  ...['session.deleted', 'permission.asked', 'permission.replied'],
  ...['question.asked', 'question.replied', 'question.rejected', 'message.part.updated'],
]);

/** Of several plugins in one process, wherever each was loaded from, one hands on the events of a directory. */
function ownersHere(): Map<string, object> {
  const shared = globalThis as { [owners]?: Map<string, object> };
  shared[owners] ??= new Map();
  return shared[owners];
}

const owners: unique symbol = Symbol.for('polyphony.capture');

/**
 * Drops what OpenCode does as files into the journal of the hub, as the capture hooks of other agents do: in order,
 * each whole, whether a hub runs or not. Nothing waits for it, and nothing fails with it.
 */
export class Capture {
  readonly #journal: string;
  readonly #env: Env;
  readonly #directory: string;
  /** Sessions below others: the one at the top, and the agent each runs. */
  readonly #children = new Map<string, { readonly parentID: string; readonly agent?: string | undefined }>();
  readonly #said = new WhatWasSaid();
  #turn: Promise<void> = Promise.resolve();
  #count = 0;

  constructor(env: Env, directory: string) {
    this.#journal = join(resolve(env.POLY_HOME || join(env.HOME || homedir(), '.poly')), 'journal');
    this.#env = env;
    this.#directory = directory;
  }

  /** An event of OpenCode's own. */
  event(event: OpenCodeEvent): void {
    const { type, properties } = event;
    const { info } = properties;
    if (type === 'session.created' && info?.id && info.parentID) {
      const { parentID: top } = this.#children.get(info.parentID) ?? info;
      this.#children.set(info.id, { parentID: top ?? info.parentID, agent: info.agent });
    }
    const more = this.#said.hear(event);
    if (more && kept.has(type)) this.tell(type, { sessionID: info?.id, ...properties, ...more });
  }

  /** Something that one of its hooks was told. */
  tell(type: string, properties: Readonly<Record<string, unknown>>): void {
    const all = ownersHere();
    const owner = all.get(this.#directory) ?? this;
    all.set(this.#directory, owner);
    if (owner !== this) return;
    const below = this.#children.get(String(properties.sessionID));
    const said = { type, directory: this.#directory, ...below, properties };
    const at = new Date();
    this.#turn = this.#turn.then(() => this.#drop(said, at)).catch(() => undefined); // The disk is full, or not ours.
  }

  close(): void {
    const all = ownersHere();
    if (all.get(this.#directory) === this) all.delete(this.#directory);
  }

  /** The time of the file is when it happened, however late a busy machine gets to write it. */
  async #drop(said: object, at: Date): Promise<void> {
    const name = `${String(process.pid).padStart(10, '0')}-${String(this.#count++).padStart(10, '0')}-${randomUUID()}`;
    const { POLY_PANE = '', POLY_TOKEN = '', TMUX_PANE = '', TMUX = '' } = this.#env;
    const head = [
      ...['poly-capture 1', 'agent opencode', `pane ${POLY_PANE}`, `token ${POLY_TOKEN}`],
      ...[`tmux ${TMUX_PANE} ${TMUX}`, `parent ${process.pid}`, 'from opencode-plugin', `tool ${this.#tool}`],
    ];
    const [draft, whole] = ['tmp', 'new'].map((folder) => join(this.#journal, folder, name)) as [
      string,
      string,
    ];
    for (const folder of ['tmp', 'new', 'dead'])
      await mkdir(join(this.#journal, folder), { recursive: true, mode: 0o700 });
    try {
      await writeFile(draft, `${head.map(oneLine).join('\n')}\n\n${JSON.stringify(said)}`, { mode: 0o600 });
      await utimes(draft, at, at);
      await rename(draft, whole);
    } catch {
      await rename(draft, `${whole}.cut`); // Even a full disk mostly takes a name: it tells that something is missing.
    }
  }

  /** The agent whose tool this OpenCode is, by what agents set for their tools. */
  get #tool(): string {
    const { CODEX_THREAD_ID, GEMINI_CLI, CLAUDECODE } = this.#env;
    return `${CODEX_THREAD_ID ? 'codex' : ''}${GEMINI_CLI ? 'gemini' : ''}${CLAUDECODE ? 'claude' : ''}`;
  }
}

const oneLine = (text: string): string => text.replaceAll('\n', ' ');
