import { type Client, PolyError, type Task } from '@polyphony/protocol';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { register, type TestAgent } from './mail-ground.ts';
import { byStdio, use } from './mcp-clients.ts';
import { raceForTasks } from './tasks-race.ts';
import { TestHub } from './test-hub.ts';

let hub: TestHub;
let [ada, bob]: TestAgent[] = [];
beforeAll(async () => {
  hub = await TestHub.start();
  ada = await register(hub, 'ada');
  bob = await register(hub, 'bob');
});
afterAll(() => hub[Symbol.asyncDispose]());

const add = async (title: string, more: object = {}, who: Client = ada as TestAgent): Promise<string> =>
  (await who.call('task:add', { title, ...more })).task_id;
const codeOf = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => 'done',
    (error: unknown) => (error instanceof PolyError ? error.code : String(error)),
  );
const find = async (id: string, client: Client = hub.client): Promise<Task> => {
  const { tasks } = await client.call('task:list', { project: 'demo', limit: 500 });
  const found = tasks.find(({ task_id }) => task_id === id);
  if (!found) throw new Error(`no task ${id}`);
  return found;
};

describe('a task', () => {
  it('is claimed by one, who completes it once with the number of that claim', async () => {
    const [one, two] = [ada as TestAgent, bob as TestAgent];
    const id = await add('write the parser', { description: 'all of it' });
    expect(await find(id)).toMatchObject({
      status: 'pending',
      ready: true,
      fence: 0,
      created_by: 'agent:ada',
    });
    expect(await codeOf(one.call('task:complete', { task_id: id }))).toBe('not_claimed');
    expect(await codeOf(one.call('task:release', { task_id: id }))).toBe('not_claimed');

    const held = await one.call('task:claim', { task_id: id });
    expect(held).toMatchObject({ ok: true, owner: 'agent:ada', fence: 1, stale: [] });
    expect(await codeOf(two.call('task:claim', { task_id: id }))).toBe('already_claimed');
    expect(await codeOf(one.call('task:claim', { task_id: id }))).toBe('already_claimed');
    expect(await codeOf(two.call('task:complete', { task_id: id, fence: 1 }))).toBe('not_owner');
    expect(await codeOf(two.call('task:heartbeat', { task_id: id }))).toBe('not_owner');
    expect(await codeOf(two.call('task:release', { task_id: id }))).toBe('not_owner');
    expect(await codeOf(one.call('task:complete', { task_id: id, fence: 7 }))).toBe('lease_lost');

    await one.call('task:complete', { task_id: id, fence: 1, result: { lines: 12 } });
    expect(await find(id)).toMatchObject({ status: 'completed', result: { lines: 12 }, owner: 'agent:ada' });
    for (const who of [one, two]) {
      expect(await codeOf(who.call('task:complete', { task_id: id, fence: 1 }))).toBe('already_completed');
      expect(await codeOf(who.call('task:claim', { task_id: id }))).toBe('already_completed');
    }
    for (const name of ['task:added', 'task:claimed', 'task:completed'])
      expect((await hub.event(name, ({ payload }) => payload.taskId === id)).source).toBe('agent:ada');
  });

  it('that nobody knows is named as that', async () => {
    const unknown = (ada as TestAgent).call('task:claim', { task_id: 'tsk_00000000' });
    await expect(unknown).rejects.toMatchObject({ code: 'not_found', details: { reason: 'unknown_task' } });
    expect(await codeOf(add('', {}))).toBe('invalid_arguments');
  });

  it('is told in words that can be kept, and in one line', async () => {
    for (const [title, more] of [
      ['a\0b', {}],
      ['a\ud800', {}],
      ['a\nb', {}],
      ['a', { description: 'b\0' }],
      ['a', { description: '\udc00' }],
      ['a', { contracts: [{ name: 'c\0' }] }],
      ['a', { project_dir: '/\0' }],
    ] as const)
      expect(await codeOf(add(title, more))).toBe('invalid_arguments');
    const id = await add('long', { description: 'two\nlines' });
    await (ada as TestAgent).call('task:claim', { task_id: id });
    const done = { task_id: id, result: 'é'.repeat(32_768) };
    expect(await codeOf((ada as TestAgent).call('task:complete', done))).toBe('invalid_arguments');
  });

  it('waits for those it depends on, which must be there and wait for nothing in a circle', async () => {
    const one = ada as TestAgent;
    const first = await add('first');
    const second = await add('second', { depends_on: [first] });
    const third = await add('third', { depends_on: [second, first] });
    expect(await find(third)).toMatchObject({
      ready: false,
      depends_on: [first, second],
      waits_for: [first, second],
    });
    expect(await codeOf(one.call('task:claim', { task_id: third }))).toBe('dependencies_pending');
    expect(await codeOf(add('none', { depends_on: ['tsk_00000000'] }))).toBe('not_found');
    for (const needs of [[third], [first], [second, third]])
      await expect(one.call('task:depend', { task_id: first, depends_on: needs })).rejects.toMatchObject({
        details: { reason: 'cyclic_dependency' },
      });
    expect((await find(first)).depends_on).toEqual([]);
    const elsewhere = await add('elsewhere', { project: 'other' }, hub.client);
    expect(await codeOf(add('x', { depends_on: [elsewhere] }))).toBe('invalid_arguments');

    for (const id of [first, second]) {
      const { fence } = await one.call('task:claim', { task_id: id });
      await one.call('task:complete', { task_id: id, fence });
    }
    const { tasks } = await one.call('task:list', { ready: true });
    expect(tasks.map(({ task_id }) => task_id)).toContain(third);
    const late = await add('late');
    await one.call('task:depend', { task_id: third, depends_on: [late] });
    expect(await codeOf(one.call('task:claim', { task_id: third }))).toBe('dependencies_pending');
  });

  it('is worked on by agents of its own project, and by the user', async () => {
    const far = await register(hub, 'far', { project: 'elsewhere' });
    const [id, own] = [await add('near'), await add('afar', {}, far)];
    for (const work of [
      far.call('task:claim', { task_id: id }),
      far.call('task:reassign', { task_id: id, to: 'bob' }),
      far.call('task:depend', { task_id: id, depends_on: [own] }),
    ])
      await expect(work).rejects.toMatchObject({
        code: 'forbidden',
        message: `${id} is a task of the project "demo", and you are in "elsewhere".`,
        info: { hint: expect.stringContaining('Write to an agent of "demo"') },
      });
    expect(await find(id)).toMatchObject({ status: 'pending', depends_on: [] });
    await far.call('task:claim', { task_id: own });
    await hub.client.call('task:claim', { task_id: id });
  });

  it('is given back, kept, or handed on by who holds it, and by the user', async () => {
    const [one, two] = [ada as TestAgent, bob as TestAgent];
    const id = await add('to and fro');
    const { fence, lease_until } = await one.call('task:claim', { task_id: id, lease_s: 60 });
    const kept = await one.call('task:heartbeat', { task_id: id, fence, lease_s: 3600 });
    expect(Date.parse(kept.lease_until)).toBeGreaterThan(Date.parse(lease_until));
    await one.call('task:release', { task_id: id, fence });
    expect(await codeOf(one.call('task:complete', { task_id: id, fence }))).toBe('lease_lost');
    expect((await two.call('task:claim', { task_id: id })).fence).toBe(fence + 1);
    expect(await codeOf(one.call('task:complete', { task_id: id, fence }))).toBe('not_owner');

    expect(await two.call('task:reassign', { task_id: id, to: 'ada' })).toMatchObject({
      owner: 'agent:ada',
      fence: fence + 2,
    });
    expect(await codeOf(two.call('task:complete', { task_id: id, fence: fence + 1 }))).toBe('not_owner');
    expect(await codeOf(one.call('task:reassign', { task_id: id, to: 'nobody' }))).toBe('not_found');
    expect(await codeOf(hub.client.call('task:complete', { task_id: id }))).toBe('not_owner');
    expect(await hub.client.call('task:reassign', { task_id: id, to: 'bob' })).toMatchObject({
      owner: 'agent:bob',
    });
    await hub.client.call('task:release', { task_id: id });
    expect(await find(id)).toMatchObject({ status: 'pending', ready: true });
    expect((await find(id)).owner).toBeUndefined();
  });

  it('is listed for those of its project, in pages', async () => {
    const [one, two] = [await register(hub, 'ada', { project: 'pages' }), bob as TestAgent];
    const ids = [];
    for (const title of ['a', 'b', 'c']) ids.push(await add(title, {}, one));
    const page = await one.call('task:list', { limit: 2 });
    expect(page).toMatchObject({ has_more: true, tasks: [{ title: 'a' }, { title: 'b' }] });
    const rest = await one.call('task:list', { after: page.tasks[1]?.task_id });
    expect(rest).toMatchObject({ has_more: false, tasks: [{ title: 'c', project: 'pages' }] });
    expect((await two.call('task:list', {})).tasks.map(({ task_id }) => task_id)).not.toContain(ids[0]);
    await one.call('task:claim', { task_id: ids[0] ?? '' });
    expect((await one.call('task:list', { mine: true })).tasks.map(({ title }) => title)).toEqual(['a']);
    expect((await one.call('task:list', { status: 'in_progress' })).tasks).toHaveLength(1);
  });
});

describe('a claim', () => {
  it('runs out with its time, and whoever comes late cannot complete it', async () => {
    const one = ada as TestAgent;
    const id = await add('short');
    const { fence } = await one.call('task:claim', { task_id: id, lease_s: 1 });
    const told = await hub.event('task:expired', ({ payload }) => payload.taskId === id);
    expect(told.payload).toMatchObject({ owner: 'agent:ada', fence, reason: 'lease' });
    expect(await codeOf(one.call('task:complete', { task_id: id, fence }))).toBe('lease_lost');
    expect((await (bob as TestAgent).call('task:claim', { task_id: id })).fence).toBe(fence + 1);
  });

  it('ends with the pane of who holds it, registered or not, and with leaving the project', async () => {
    const [plain, named] = [hub.as(await hub.paneToken('plain')), hub.as(await hub.paneToken('named'))];
    const early = await add('early', { project: 'demo' }, plain);
    await named.call('task:claim', { task_id: early });
    await named.call('mail:register', { name: 'named', project: 'demo' });
    // What a pane took before it registered is its own afterwards.
    await named.call('task:heartbeat', { task_id: early });
    const [first, second] = [await add('one'), await add('two')];
    expect(await plain.call('task:claim', { task_id: first })).toMatchObject({ owner: 'agent:plain' });
    expect(await named.call('task:claim', { task_id: second })).toMatchObject({ owner: 'agent:named' });
    for (const paneId of ['plain', 'named']) await hub.client.call('pane:close', { paneId });
    for (const id of [first, second, early]) {
      const { payload } = await hub.event('task:expired', (event) => event.payload.taskId === id);
      expect(payload.reason).toBe('gone');
    }
    const leaver = await register(hub, 'leaver');
    const left = await add('left behind');
    await leaver.call('task:claim', { task_id: left });
    await leaver.call('mail:unregister', {});
    await hub.event('task:expired', ({ payload }) => payload.taskId === left && payload.reason === 'gone');
  });

  it('is one of many at once: every task is won once, whatever is killed in between', async () => {
    await using own = await TestHub.start();
    await raceForTasks(own, 60);
  }, 60_000);

  it('survives a kill of the hub, and still runs out', async () => {
    await using own = await TestHub.start();
    const token = await own.paneToken('worker');
    const [time, gone] = await Promise.all(
      ['time', 'gone'].map((title) => own.client.call('task:add', { title, project: 'demo' })),
    );
    const agent = await register(own, 'ada');
    await agent.call('task:claim', { task_id: time?.task_id ?? '', lease_s: 1 });
    await own.as(token).call('task:claim', { task_id: gone?.task_id ?? '' });
    const { pid } = (await own.client.call('pane:list', {})).find(({ id }) => id === 'worker') ?? {};
    await own.kill('SIGKILL');
    process.kill(pid ?? 0, 'SIGKILL');
    await own.start();
    for (const [task, reason] of [
      [time, 'lease'],
      [gone, 'gone'],
    ] as const)
      expect(
        (await own.event('task:expired', ({ payload }) => payload.taskId === task?.task_id)).payload.reason,
      ).toBe(reason);
  }, 60_000);
});

it('is used as xats is, by tools', async () => {
  const client = await byStdio(hub, { args: ['--toolsets', 'mail,tasks'] });
  await use(client, 'register_agent', { name: 'tooled', project: 'demo' });
  const names = (await client.listTools()).tools.map(({ name }) => name);
  for (const name of ['task_add', 'task_claim', 'task_complete', 'task_list', 'task_release'])
    expect(names).toContain(name);
  const { task_id } = JSON.parse(await use(client, 'task_add', { title: 'by tool' })) as { task_id: string };
  expect((await find(task_id)).project).toBe('demo');
  expect(await use(client, 'task_complete', { task_id })).toBe(
    `ERROR not_claimed: nobody holds ${task_id}. Claim it first.`,
  );
  expect(JSON.parse(await use(client, 'task_claim', { task_id }))).toMatchObject({ ok: true, fence: 1 });
  expect(await use(client, 'task_claim', { task_id })).toMatch(
    /^ERROR already_claimed: .* task_list with ready: true shows/,
  );
  expect(JSON.parse(await use(client, 'task_complete', { task_id, result: 'done' }))).toEqual({
    ok: true,
    task_id,
  });
  expect(await use(client, 'task_list', { status: 'completed' })).toContain(`"result":"done"`);
  await client.close();
});
