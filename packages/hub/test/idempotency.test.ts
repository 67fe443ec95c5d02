import { afterAll, beforeAll, expect, it } from 'vitest';
import { TestHub } from './test-hub.ts';

let hub: TestHub;
beforeAll(async () => {
  hub = await TestHub.start();
});
afterAll(() => hub[Symbol.asyncDispose]());

const params = { argv: ['cat'] };

it('gives the first answer again, also to those who ask at the same time and after a kill', async () => {
  const ask = () => hub.client.call('pane:new', params, { idempotencyKey: 'once' });
  const [first, ...repeats] = await Promise.all(Array.from({ length: 10 }, ask));
  for (const repeat of repeats) expect(repeat).toEqual(first);
  await hub.kill('SIGKILL');
  await hub.start();
  expect(await ask()).toEqual(first);
  expect(await hub.client.call('pane:list', {})).toHaveLength(1);
});

it('refuses a key that was used for something else', async () => {
  await hub.client.call('pane:new', params, { idempotencyKey: 'other' });
  const again = hub.client.call('pane:new', { argv: ['sh'] }, { idempotencyKey: 'other' });
  await expect(again).rejects.toMatchObject({ code: 'conflict' });
});

it('gives the same error again', async () => {
  const ask = () => hub.client.call('pane:new', { argv: ['no-such-program'] }, { idempotencyKey: 'bad' });
  await expect(ask()).rejects.toMatchObject({ code: 'spawn_failed' });
  await expect(ask()).rejects.toMatchObject({ code: 'spawn_failed' });
});

it('gives the answers of a pane to no other that has its id after it', async () => {
  const ask = (token: string) => hub.as(token).call('pane:new', params, { idempotencyKey: 'mine' });
  const token = await hub.paneToken('reborn');
  const first = await ask(token);
  expect(await ask(token)).toEqual(first);
  await hub.client.call('pane:close', { paneId: 'reborn' });
  expect(await ask(await hub.paneToken('reborn'))).not.toEqual(first);
});

it('refuses a key that is too long', async () => {
  const ask = hub.client.call('pane:new', params, { idempotencyKey: 'x'.repeat(256) });
  await expect(ask).rejects.toMatchObject({ code: 'invalid_request' });
});

it('emits an event once, however often and whenever it is asked to', async () => {
  const emit = (payload: unknown, idempotencyKey = 'told') =>
    hub.client.emit('told', payload, { idempotencyKey });
  const [first, ...repeats] = await Promise.all(Array.from({ length: 10 }, () => emit({ n: 1 })));
  for (const repeat of repeats) expect(repeat).toEqual(first);
  await hub.kill('SIGKILL');
  await hub.start();
  expect(await emit({ n: 1 })).toEqual(first);
  await expect(emit({ n: 2 })).rejects.toMatchObject({ code: 'conflict' });
  await expect(hub.client.emit('other', { n: 1 }, { idempotencyKey: 'told' })).rejects.toMatchObject({
    code: 'conflict',
  });
  await expect(emit({ n: 1 }, 'x'.repeat(256))).rejects.toMatchObject({ code: 'invalid_request' });
  const last = await emit({ n: 3 }, 'told-last');
  const seen: number[] = [];
  for await (const { seq } of hub.events('told', { since: 0 })) {
    seen.push(seq);
    if (seq === last.seq) break;
  }
  expect(seen).toEqual([first?.seq, last.seq]);
});

it('gives the first answer again where a repeat would find nothing left to do', async () => {
  const { task_id } = await hub.client.call('task:add', { title: 'once', project: 'keys' });
  const claim = () => hub.client.call('task:claim', { task_id }, { idempotencyKey: 'claim' });
  const first = await claim();
  expect(await claim()).toEqual(first);
});
