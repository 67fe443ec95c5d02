import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import type { TestHub } from './test-hub.ts';

export const script = join(import.meta.dirname, '..', 'hooks', 'capture.sh');

export type Captured = Readonly<
  Record<'event' | 'kind' | 'sessionId' | 'paneId' | 'agent' | 'captureId', string>
>;

interface Hooked {
  readonly agent?: string;
  readonly env?: Record<string, string>;
  /** The script of another installation. */
  readonly from?: string;
}

/** Runs the capture hook as an agent does; answers what it printed and how it ended. */
export async function capture(
  hub: TestHub,
  payload: string | Buffer,
  { agent = 'claude', env = {}, from = script }: Hooked = {},
): Promise<string> {
  const hook = spawn('sh', [from, agent], { env: { ...hub.env, ...env } });
  let said = '';
  for (const stream of [hook.stdout, hook.stderr]) stream.on('data', (chunk: Buffer) => (said += chunk));
  hook.stdin.on('error', () => undefined);
  hook.stdin.end(payload);
  const [code] = await once(hook, 'close');
  return `${code}${said}`;
}

export const prompt = (session: string, text: string): string =>
  JSON.stringify({ session_id: session, hook_event_name: 'UserPromptSubmit', cwd: '/', prompt: text });

/** What has been told to be captured, as soon as there are so many. */
export async function captured(hub: TestHub, count: number): Promise<readonly Captured[]> {
  const found: Captured[] = [];
  for await (const { payload } of hub.events('agent:captured', { since: 0 })) {
    found.push(payload as Captured);
    if (found.length === count) break;
  }
  return found;
}

/** What the record has of them; the hub must have ended. */
export function rows(hub: TestHub): readonly {
  readonly normalised: string;
  readonly raw: Buffer;
  readonly kind: string;
  readonly pane: string | null;
}[] {
  const db = new Database(join(hub.dir, 'hub.db'), { readonly: true });
  try {
    return db.prepare('SELECT kind, pane, normalised, raw FROM captures ORDER BY seq').all() as never;
  } finally {
    db.close();
  }
}

export const folder = (hub: TestHub, name: string): readonly string[] =>
  readdirSync(join(hub.dir, 'journal', name));
export const gauges = async (hub: TestHub): Promise<Readonly<Record<string, number>>> =>
  (await hub.client.call('server:status', {})).gauges;
