import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type MailSendResult, PolyError } from '@polyphony/protocol';
import Database from 'better-sqlite3';
import { expect } from 'vitest';
import { register } from './mail-ground.ts';
import type { TestHub } from './test-hub.ts';

const writers = 16;

/**
 * Sixteen write at once while the hub is killed again and again, each with a journal of what it was promised. A send
 * whose answer was lost is repeated with its key: in the end every message of a journal is in the inbox, once.
 */
export async function killInStorm(hub: TestHub, rounds: number): Promise<{ readonly acknowledged: number }> {
  const reader = await register(hub, 'reader', { project: 'storm' });
  /** By text: what the hub answered. */
  const journal = new Map<string, { readonly message_id: string; readonly event_id: number }>();
  const read: { readonly body: string; readonly event_id: number }[] = [];
  let isOver = false;

  async function write(writer: number): Promise<void> {
    for (let n = 0; !isOver; n++) {
      const body = `${writer}-${n}`;
      const idempotencyKey = randomUUID();
      const params = { to_agent_name: 'reader', to_project: 'storm', body };
      const send = () => hub.client.call('mail:send', params, { idempotencyKey });
      const sent = (await untilAnswered(send)) as MailSendResult;
      expect(journal.has(body)).toBe(false);
      journal.set(body, sent);
    }
  }
  /** An answer that is lost may have moved the cursor: what it held is looked at again from where the last one ended. */
  async function readOn(): Promise<void> {
    const since_event_id = read.at(-1)?.event_id ?? 0;
    const { messages } = await untilAnswered(() => reader.call('mail:inbox', { since_event_id, limit: 200 }));
    read.push(...messages.map(({ body, event_id }) => ({ body, event_id })));
  }

  const writing = Promise.all(Array.from({ length: writers }, (_, n) => write(n)));
  for (let round = 0; round < rounds; round++) {
    const before = journal.size;
    while (journal.size < before + writers * 3) await Promise.race([writing, sleep(5)]);
    await hub.kill('SIGKILL');
    await hub.start();
    await readOn();
  }
  isOver = true;
  await writing;
  for (let before = -1; before < read.length; ) {
    before = read.length;
    await readOn();
  }

  expect(read.map(({ event_id }) => event_id)).toEqual(
    read.map(({ event_id }) => event_id).toSorted((a, b) => a - b),
  );
  const found = Map.groupBy(read, ({ body }) => body);
  expect([...found].filter(([, copies]) => copies.length > 1)).toEqual([]);
  expect([...journal.keys()].filter((body) => !found.has(body))).toEqual([]);
  for (const [body, { event_id }] of journal) expect(found.get(body)?.[0]?.event_id).toBe(event_id);
  await hub.kill('SIGTERM');
  const db = new Database(join(hub.dir, 'hub.db'), { readonly: true });
  expect(db.pragma('integrity_check', { simple: true })).toBe('ok');
  db.close();
  return { acknowledged: journal.size };
}

/** Asks until somebody answers; what fails otherwise than by a hub that is away is a failure. */
async function untilAnswered<T>(ask: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await ask();
    } catch (error) {
      if (error instanceof PolyError && !['unreachable', 'stopping'].includes(error.code)) throw error;
      await sleep(20);
    }
  }
}
