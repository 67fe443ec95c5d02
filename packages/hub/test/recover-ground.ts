import { appendFileSync, mkdirSync, utimesSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { FloorRecovered, FloorRecoverParams } from '@polyphony/protocol';
import Database from 'better-sqlite3';
import type { TestHub } from './test-hub.ts';

/** What a Claude Code that works in `/work` keeps of a conversation, as lines of its transcript. */
export class ClaudeTranscript {
  readonly path: string;
  readonly conversation: string;
  #count = 0;

  constructor(hub: TestHub, conversation: string, home: string = hub.home) {
    this.conversation = conversation;
    this.path = join(home, '.claude', 'projects', '-work', `${conversation}.jsonl`);
    mkdirSync(dirname(this.path), { recursive: true });
    writeFileSync(this.path, '');
  }

  line(type: 'user' | 'assistant', message: object, at: number, more: object = {}): void {
    const uuid = `00000000-0000-4000-8000-${String(this.#count++).padStart(12, '0')}`;
    const around = {
      uuid,
      sessionId: this.conversation,
      cwd: '/work',
      isSidechain: false,
      userType: 'external',
    };
    const line = { ...around, type, timestamp: new Date(at).toISOString(), message, ...more };
    this.raw(`${JSON.stringify(line)}\n`);
  }

  raw(text: string): void {
    appendFileSync(this.path, text);
    // As if it lay there for long.
    const then = Date.now() / 1000 - 600;
    utimesSync(this.path, then, then);
  }

  prompt(text: string, at: number, promptId?: string): void {
    this.line('user', { role: 'user', content: text }, at, promptId === undefined ? {} : { promptId });
  }

  tool(id: string, command: string, at: number): void {
    const content = [{ type: 'tool_use', id, name: 'Bash', input: { command } }];
    this.line('assistant', { role: 'assistant', content, stop_reason: 'tool_use' }, at);
  }

  result(id: string, stdout: string, at: number): void {
    const content = [{ type: 'tool_result', tool_use_id: id, content: stdout }];
    this.line('user', { role: 'user', content }, at, { toolUseResult: { stdout, stderr: '' } });
  }

  answer(text: string, at: number, promptId?: string): void {
    const content = [{ type: 'text', text }];
    const more = promptId === undefined ? {} : { promptId };
    this.line('assistant', { role: 'assistant', content, stop_reason: 'end_turn' }, at, more);
  }
}

/** Changes the record behind the hub's back, as damage would. */
export function damage(home: string, sql: string, ...values: readonly unknown[]): number {
  const db = new Database(join(home, 'hub.db'));
  try {
    db.pragma('busy_timeout = 5000');
    return db.prepare(sql).run(...values).changes;
  } finally {
    db.close();
  }
}

export const recover = (hub: TestHub, params: FloorRecoverParams = {}): Promise<FloorRecovered> =>
  hub.client.call('floor:recover', params);
