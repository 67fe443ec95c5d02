import { readFileSync } from 'node:fs';
import type { Client, NamedAgent } from '@polyphony/protocol';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { register } from './mail-ground.ts';
import { TestHub, until } from './test-hub.ts';

let hub: TestHub;
/** The agent that the hub runs in the project `here`, kept to it, and another that it has started. */
let inside: Client;
let child: Client;
let token = '';
/** What is in the project `there`. */
let there: {
  readonly session: string;
  readonly entry: string;
  readonly task: string;
  readonly message: string;
};

beforeAll(async () => {
  hub = await TestHub.start();
  const { client } = hub;
  const command = ['sh', '-c', 'exec cat'];
  await client.call('floor:agent-add', { name: 'kim', hosting: 'hub', command, isolated: true });
  for (const project of ['here', 'there']) {
    await client.call('floor:agent-invite', { name: 'kim', project });
    await register(hub, `friend-${project}`, { project });
  }
  const places = await until(async () => {
    const { members } = await client.call('floor:agent', { name: 'kim' });
    return members.every(({ state }) => state === 'running') && members;
  });
  token = await tokenOf(places, 'here');
  inside = hub.as(token);
  const { session_id: session } = await client.call('floor:open', { project: 'there', name: 'hidden' });
  const { entry_id: entry } = await client.call('floor:record', {
    ...{ session, payload: { hook_event_name: 'UserPromptSubmit', prompt: 'the treasure' } },
  });
  const { task_id: task } = await client.call('task:add', { title: 'dig treasure', project: 'there' });
  const twin = hub.as(await tokenOf(places, 'there'));
  const { message_id: message } = await twin.call('mail:send', {
    to_agent_name: 'friend-there',
    body: 'treasure',
  });
  await client.call('floor:knowledge-write', { path: 'map.md', text: 'treasure', project: 'there' });
  await client.call('floor:knowledge-write', { path: 'all.md', text: 'for all' });
  await client.call('floor:annotate', { session, kind: 'decision', value: 'keep the treasure' });
  there = { session, entry, task, message };
  await inside.call('pane:new', { id: 'offspring', argv: ['cat'], backend: 'pty' });
  child = hub.as(await tokenIn('offspring'));
}, 120_000);
afterAll(() => hub[Symbol.asyncDispose]());

async function tokenOf(places: NamedAgent['members'], project: string): Promise<string> {
  return tokenIn(places.find((one) => one.project === project)?.pane ?? '');
}

/** The credential of a pane, as its program has it. */
async function tokenIn(pane: string): Promise<string> {
  const found = (await hub.client.call('pane:list', {})).find(({ id }) => id === pane);
  const variables = readFileSync(`/proc/${found?.pid}/environ`, 'utf8').split('\0');
  return variables.find((one) => one.startsWith('POLY_TOKEN='))?.slice('POLY_TOKEN='.length) ?? '';
}

it('answers an isolated agent nothing of another project, whatever it asks for, and what it has started neither', async () => {
  const { session, entry, task, message } = there;
  const asked: readonly (readonly [action: string, params: object])[] = [
    ...['floor:session', 'floor:timeline', 'floor:context', 'floor:changes', 'floor:links'].flatMap(
      (action): [string, object][] => [
        [action, { session }],
        [action, { session: 'hidden', project: 'there' }],
        [action, { session: 'hidden', team: 'there' }],
      ],
    ),
    ['floor:annotations', { session }],
    ['floor:digest', { session }],
    ['floor:claim', { session }],
    ['floor:advise', { session, text: 'hello' }],
    ['floor:advise', { text: '@friend-there hello' }],
    ['floor:join', { project: 'there', session: 'hidden' }],
    ['floor:entry', { entry }],
    ['floor:search', { query: 'treasure' }],
    ['floor:search', { query: 'treasure', project: 'there' }],
    ['floor:decisions', {}],
    ['floor:decisions', { project: 'there' }],
    ['floor:sessions', {}],
    ['floor:sessions', { project: 'there' }],
    ['floor:team', {}],
    ['floor:agents', {}],
    ['floor:agents', { project: 'there' }],
    ['floor:agent', { name: 'kim' }],
    ['floor:knowledge', { project: 'there' }],
    ['floor:knowledge', {}],
    ['floor:knowledge-read', { path: 'map.md' }],
    ['floor:knowledge-read', { path: 'map.md', project: 'there' }],
    ['project:list', {}],
    ['project:show', { project: 'there' }],
    ['project:create', { name: 'elsewhere' }],
    ['mail:agents', {}],
    ['mail:agents', { project: 'there' }],
    ['mail:send', { to_agent_name: 'friend-there', body: 'psst' }],
    ['mail:send', { to_agent_name: '@friend-there', body: 'psst' }],
    ['mail:send', { to_agent_name: 'friend-there', to_project: 'there', body: 'psst' }],
    ['mail:broadcast', { project: 'there', body: 'psst' }],
    ['mail:search', { query: 'treasure' }],
    ['mail:status', { message_id: message }],
    ['mail:thread', { thread_id: message }],
    ['mail:inbox', { thread_id: message }],
    ['mail:register', { name: 'other', project: 'here' }],
    ['mail:register', { name: 'kim', project: 'there' }],
    ['mail:rename', { name: 'other' }],
    ['task:list', {}],
    ['task:list', { project: 'there' }],
    ['task:claim', { task_id: task }],
    ['task:complete', { task_id: task, fence: 1 }],
    ['contract:list', { project: 'there' }],
    ['file:list', {}],
  ];
  for (const by of [inside, child])
    for (const [action, params] of asked) {
      const answer = await by.call(action as never, params as never).catch((error: unknown) => error);
      const shown = JSON.stringify(answer instanceof Error ? { ...answer, message: answer.message } : answer);
      // What it has said itself may be in a refusal.
      const given = JSON.stringify(params);
      const leaks = [/treasure/, /hidden/, /friend-there/, /\\?"there\\?"/].filter(
        (word) => word.test(shown) && !word.test(given),
      );
      expect([action, params, leaks]).toEqual([action, params, []]);
      expect(shown).not.toMatch(/the treasure|dig treasure|keep the treasure/);
    }
});

it('still works in its own project: its session, mail, tasks, knowledge, and people', async () => {
  const { session } = await inside.call('floor:status', {});
  expect(session).toMatchObject({ project: 'here', slug: 'kim-here' });
  expect((await inside.call('floor:sessions', {})).sessions.map(({ slug }) => slug)).toEqual(['kim-here']);
  await inside.call('floor:reply', { message: 'here I am' });
  expect(
    (await inside.call('floor:timeline', { session: 'kim-here' })).entries.map(({ kind }) => kind),
  ).toEqual([...['joined', 'reply']]);
  expect((await inside.call('floor:knowledge', {})).files.map(({ path }) => path)).toEqual(['all.md']);
  await inside.call('mail:send', { to_agent_name: '@friend-here', body: 'hello' });
  await inside.call('mail:send', { to_agent_name: 'user', body: 'hello' });
  const { task_id } = await inside.call('task:add', { title: 'tidy' });
  await inside.call('task:claim', { task_id });
  const { agents } = await inside.call('mail:agents', {});
  expect(agents.map(({ name }) => name)).toEqual(['friend-here', 'kim']);
  await expect(inside.call('floor:sessions', { project: 'there' })).rejects.toMatchObject({
    ...{
      code: 'forbidden',
      details: { reason: 'isolated' },
      hint: expect.stringContaining('poly agent edit kim'),
    },
  });
});

it('tells an isolated agent of no event of another project', async () => {
  const seen: string[] = [];
  const stream = hub.events('*', { since: 0, token });
  await hub.client.call('floor:label', { session: there.session, label: 'secret label' });
  const own = await hub.client.call('floor:agent', { name: 'kim' });
  const place = own.members.find(({ project }) => project === 'here');
  await hub.client.call('floor:label', { session: place?.session_id ?? '', label: 'own label' });
  for await (const event of stream) {
    // What it has asked for itself it knows.
    if (!event.event.startsWith('action:')) seen.push(JSON.stringify(event));
    const { sessionId } = (event.payload ?? {}) as { readonly sessionId?: string };
    if (event.event === 'floor:changed' && sessionId === place?.session_id) break;
  }
  const all = seen.join('\n');
  expect(all).not.toContain(there.session);
  expect(all).not.toContain('"there"');
  expect(all).toContain('floor:changed');
});

it('is kept to its project over HTTP as well, by pages and by streams', async () => {
  for (const path of [
    '/projects/there',
    '/projects/there/sessions',
    '/projects/there/events',
    '/projects',
    '/projects/there/sessions/hidden/messages',
    '/projects/there/members',
  ])
    expect(
      (
        await hub.send({ method: 'GET', path, headers: { authorization: `Bearer ${token}` } } as Parameters<
          TestHub['send']
        >[0])
      ).status,
    ).toBe(403);
});
