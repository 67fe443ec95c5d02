import { PolyError } from '@polyphony/protocol';
import { expect } from 'vitest';
import { register } from './mail-ground.ts';
import { type TestHub, until } from './test-hub.ts';

/** Eight try every task while the hub is killed: each is won once, and the log agrees. */
export async function raceForTasks(hub: TestHub, count: number): Promise<void> {
  const ids: string[] = [];
  while (ids.length < count) {
    const some = Array.from({ length: Math.min(50, count - ids.length) }, (_, i) =>
      hub.client.call('task:add', { title: `t${i}`, project: 'race' }),
    );
    ids.push(...(await Promise.all(some)).map(({ task_id }) => task_id));
  }
  const secrets = await Promise.all(
    Array.from({ length: 8 }, async (_, i) => (await register(hub, `w${i}`, { project: 'race' })).secret),
  );
  const wins = new Map<string, string[]>();
  let tried = 0;
  /** Each tries every task, beginning anywhere; those whose answer was lost are tried again. */
  const race = async (secret: string, offset: number): Promise<void> => {
    const client = hub.as(secret);
    for (let i = 0; i < count; i++) {
      const task_id = ids[(i + offset) % count] ?? '';
      try {
        const { owner } = await client.call('task:claim', { task_id });
        wins.set(task_id, [...(wins.get(task_id) ?? []), owner]);
      } catch (error) {
        if (!(error instanceof PolyError) || error.code !== 'already_claimed') return;
      }
      tried += 1;
    }
  };
  const racing = Promise.allSettled(secrets.map((secret, i) => race(secret, i * 37)));
  await until(() => tried > count * 2.5);
  await hub.kill('SIGKILL');
  await racing;
  await hub.start();
  await Promise.all(secrets.map((secret, i) => race(secret, i * 37)));

  const { tasks } = await hub.client.call('task:list', { project: 'race', limit: 500 });
  expect(tasks.filter(({ status, fence }) => status === 'in_progress' && fence === 1)).toHaveLength(count);
  // An answer may be lost with the hub; one that was given is true.
  for (const { task_id, owner } of tasks) expect([[], [owner]]).toContainEqual(wins.get(task_id) ?? []);
  const log = new Map<string, unknown>();
  for await (const { payload } of hub.events('task:claimed', { since: 0 })) {
    const { taskId, owner } = payload as { readonly taskId: string; readonly owner: string };
    expect(log.has(taskId)).toBe(false);
    log.set(taskId, owner);
    if (log.size === count) break;
  }
  expect(Object.fromEntries(log)).toEqual(
    Object.fromEntries(tasks.map(({ task_id, owner }) => [task_id, owner])),
  );
}
