import { afterAll, beforeAll, expect, it } from 'vitest';
import { register } from './mail-ground.ts';
import { TestHub } from './test-hub.ts';

let hub: TestHub;
beforeAll(async () => {
  hub = await TestHub.start();
});
afterAll(() => hub[Symbol.asyncDispose]());

const order = (...names: readonly string[]) => ({
  type: 'object',
  properties: Object.fromEntries(names.map((name) => [name, { type: 'string' }])),
});

it('the history of a contract has its versions, who depends on it, and who has not acknowledged which', async () => {
  const [ada, bob, cleo] = [
    await register(hub, 'ada'),
    await register(hub, 'bob'),
    await register(hub, 'cleo'),
  ];
  const name = 'order';
  const history = () => hub.client.call('contract:history', { name, project: 'DEMO' });
  await ada.call('contract:register', { name, schema: order('id', 'at') });
  await bob.call('contract:subscribe', { name });
  const { task_id } = await ada.call('task:add', { title: 'build on it', contracts: [{ name }] });
  await cleo.call('task:claim', { task_id });
  await ada.call('contract:register', { name, schema: order('id', 'at', 'by'), note: 'who' });
  await ada.call('contract:register', { name, schema: order('id', 'by') });
  expect(await history()).toEqual({
    name,
    project: 'demo',
    format: 'jsonschema',
    version: 3,
    subscribers: 1,
    versions: [
      { version: 3, registered_by: 'agent:ada', registered_at: expect.any(String), breaking: true },
      {
        version: 2,
        registered_by: 'agent:ada',
        registered_at: expect.any(String),
        breaking: false,
        note: 'who',
      },
      { version: 1, registered_by: 'agent:ada', registered_at: expect.any(String), breaking: false },
    ],
    dependents: [
      { participant: 'agent:bob', subscribed: true, unacknowledged: [2, 3] },
      { participant: 'agent:cleo', subscribed: false, unacknowledged: [2, 3] },
    ],
  });
  await bob.call('contract:ack', { name, version: 2 });
  await cleo.call('contract:ack', { name });
  expect((await history()).dependents).toEqual([
    { participant: 'agent:bob', subscribed: true, unacknowledged: [3] },
    { participant: 'agent:cleo', subscribed: false, unacknowledged: [] },
  ]);
  await expect(hub.client.call('contract:history', { name: 'none', project: 'demo' })).rejects.toThrow(
    expect.objectContaining({ code: 'not_found' }) as never,
  );
});
