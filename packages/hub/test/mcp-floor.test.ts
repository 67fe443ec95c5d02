import { afterAll, beforeAll, expect, it } from 'vitest';
import { byHttp } from './mcp-clients.ts';
import { TestHub } from './test-hub.ts';

let hub: TestHub;
beforeAll(async () => {
  hub = await TestHub.start();
}, 60_000);
afterAll(() => hub[Symbol.asyncDispose]());

it('has the tools of Polaris and of the seat in the toolset floor, for the agent in a pane', async () => {
  const token = await hub.paneToken('talker');
  const client = await byHttp(hub, { token, query: '?toolsets=floor' });
  const { tools } = await client.listTools();
  const taken = Object.fromEntries(
    tools.map(({ name, inputSchema }) => [
      name,
      Object.keys((inputSchema.properties ?? {}) as object).sort(),
    ]),
  );
  expect(taken).toEqual({
    floor_connect: ['agent', 'project', 'session'],
    floor_disconnect: [],
    floor_status: [],
    floor_reply: ['message'],
    floor_context: ['project', 'session'],
    floor_rename: ['name'],
    floor_team: ['project'],
    floor_claim: ['project', 'session', 'takeover'],
    floor_handoff: ['fence', 'project', 'session', 'to'],
    floor_advise: ['project', 'session', 'text', 'to'],
    floor_agents: ['project', 'skill'],
    floor_hand_on: ['message_id', 'note', 'to'],
    floor_knowledge: ['project'],
    floor_knowledge_read: ['from', 'path', 'project'],
  });
  const call = async (name: string, args: Record<string, unknown> = {}) => {
    const { content, isError } = await client.callTool({ name, arguments: args });
    const [first] = content as readonly { readonly text: string }[];
    return isError ? (first?.text ?? '') : JSON.parse(first?.text ?? '');
  };
  expect(await call('floor_status')).toMatchObject({ connected: false });
  expect(await call('floor_reply', { message: 'x' })).toMatch(
    /^conflict: you feed no session\..*floor_connect/,
  );
  const { session } = await call('floor_connect', { project: 'studio', session: 'mix', agent: 'dean' });
  expect(session).toMatchObject({ slug: 'mix', agent: 'agent:dean', bindings: [{ pane: 'talker' }] });
  expect(await call('floor_reply', { message: 'on air' })).toMatchObject({
    kind: 'reply',
    sender: 'agent:dean',
  });
  const context = await call('floor_context', { session: 'mix' });
  expect(context.entries.map(({ text }: { text: string }) => text)).toEqual(['agent:dean joined.', 'on air']);
  expect(await call('floor_rename', { name: 'Atelier' })).toMatchObject({ name: 'Atelier', key: 'studio' });
  expect((await call('floor_team', { project: 'studio' })).team).toMatchObject([
    { kind: 'person' },
    { participant: 'agent:dean' },
  ]);
  await hub.client.call('floor:agent-add', { name: 'dean', skills: ['sound'] });
  expect((await call('floor_agents', { skill: 'sound' })).agents).toMatchObject([
    { participant: 'agent:dean' },
  ]);
  await hub.client.call('floor:knowledge-write', { path: 'levels.md', text: 'Not too loud.' });
  expect((await call('floor_knowledge')).files).toMatchObject([{ path: 'levels.md' }]);
  expect(await call('floor_knowledge_read', { path: 'levels.md' })).toMatchObject({ text: 'Not too loud.' });
  expect(await call('floor_knowledge_read', { path: '../token' })).toMatch(
    /^invalid_arguments: .*path must be/,
  );
  expect((await call('floor_disconnect')).session).toMatchObject({ project: 'Atelier', bindings: [] });
  const looks = await byHttp(hub, { token, query: '?toolsets=floor&safety=readonly' });
  expect((await looks.listTools()).tools.map(({ name }) => name).sort()).toEqual([
    ...['floor_agents', 'floor_context', 'floor_knowledge', 'floor_knowledge_read'],
    ...['floor_status', 'floor_team'],
  ]);
  for (const one of [client, looks]) await one.close();
});
