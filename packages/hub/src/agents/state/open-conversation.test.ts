import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openConversation } from './open-conversation.ts';

const id = (number: number): string => `01a1b2c3-0000-7000-8000-00000000000${number}`;
const begins = (source: string): string =>
  `{"type":"session_meta","payload":{"thread_source":"${source}"}}\n`;

describe('the conversation of an agent, by the file it holds open', () => {
  let folder: string;
  let child: ChildProcess | undefined;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'poly-conversation-'));
    mkdirSync(join(folder, 'sessions', '2026'), { recursive: true });
  });
  afterEach(() => {
    child?.kill('SIGKILL');
    rmSync(folder, { recursive: true });
  });

  /** A file of a conversation; the higher its age, the longer ago it was written. */
  const file = (number: number, { source = 'user', age = 0 } = {}): string => {
    const path = join(folder, 'sessions', '2026', `rollout-2026-11-16T22-02-21-${id(number)}.jsonl`);
    writeFileSync(path, begins(source));
    utimesSync(path, 1_000_000 - age, 1_000_000 - age);
    return path;
  };

  /** A process below another that holds these open, as one that was started by a launcher does. */
  const holding = async (...paths: readonly string[]): Promise<number> => {
    const opened = paths.map((path, at) => `${at + 3}<'${path}'`);
    const script = `(exec ${opened.join(' ')}; echo ready; exec sleep 60); :`;
    child = spawn('sh', ['-c', script], { stdio: ['ignore', 'pipe', 'ignore'] });
    if (child.stdout) await once(child.stdout, 'data');
    return child.pid ?? 0;
  };

  it('is the one that was written to last, whichever of its processes has it', async () => {
    const files = [file(3, { age: 20 }), file(1, { age: 10 }), file(2, { age: 30 })];
    expect(openConversation('codex', await holding(...files))).toBe(id(1));
  });

  it('is not that of a subagent, though that was written to last', async () => {
    const files = [file(1, { age: 10 }), file(2, { source: 'subagent' })];
    expect(openConversation('codex', await holding(...files))).toBe(id(1));
  });

  it.each([
    ['no such file is open', 'codex', () => []],
    ['the file is gone', 'codex', () => [file(1)]],
    ['another agent has it', 'claude', () => [file(1)]],
  ] as const)('is not guessed where %s', async (why, vendor, paths) => {
    const opened = paths();
    const pid = await holding(...opened, '/dev/null');
    if (why === 'the file is gone') for (const path of opened) rmSync(path);
    expect(openConversation(vendor, pid)).toBeNull();
  });
});
