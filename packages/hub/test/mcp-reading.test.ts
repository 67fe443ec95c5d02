import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Client } from '@modelcontextprotocol/client';
import { describe, expect, it } from 'vitest';
import { byHttp, byStdio, structured } from './mcp-clients.ts';
import { mcpTmuxGround } from './mcp-tmux-ground.ts';
import { until } from './test-hub.ts';

const ground = mcpTmuxGround();
const { tmux, inPane } = ground;

const prompts = ['run_and_wait', 'diagnose_failing_pane', 'build_dev_workspace', 'interrupt_gracefully'];
const templates = [
  ...['tmux://sessions/{name}', 'tmux://sessions/{name}/windows', 'tmux://sessions/{name}/windows/{index}'],
  ...['tmux://panes/{id}', 'tmux://panes/{id}/content'],
];

async function read(client: Client, uri: string): Promise<string> {
  const { contents } = await client.readResource({ uri });
  const [first] = contents;
  if (!first || !('text' in first)) throw new Error('a resource is a text');
  return first.text;
}

const value = async (client: Client, uri: string): Promise<unknown> => JSON.parse(await read(client, uri));

describe.each([
  ['stdio', ground.overStdio],
  ['HTTP', ground.overHttp],
] as const)('resources over %s', (_, connect) => {
  it('list what there is, and how to ask for the rest', async () => {
    const client = await connect({ safety: 'readonly' });
    const { resources } = await client.listResources();
    const panes = tmux('list-panes', '-a', '-F', '#{pane_id}').split('\n');
    expect(resources.map(({ uri }) => uri).sort()).toEqual(
      [
        ...['tmux://sessions', 'tmux://events', 'tmux://sessions/demo', 'tmux://sessions/other'],
        ...panes.map((id) => `tmux://panes/${encodeURIComponent(id)}/content`),
      ].sort(),
    );
    const { resourceTemplates } = await client.listResourceTemplates();
    expect(resourceTemplates.map(({ uriTemplate }) => uriTemplate)).toEqual(templates);
  });

  it('are read by their address', async () => {
    const client = await connect({ safety: 'readonly' });
    expect(await value(client, 'tmux://sessions')).toMatchObject({
      sessions: [{ session_name: 'demo' }, { session_name: 'other' }],
    });
    expect(await value(client, 'tmux://sessions/demo')).toMatchObject({
      session_name: 'demo',
      windows: [{ window_name: 'editor' }, { window_name: 'logs' }],
    });
    expect(await value(client, 'tmux://sessions/other/windows')).toMatchObject({
      windows: [{ window_name: 'main' }, { window_name: 'spare' }],
    });
    expect(await value(client, 'tmux://sessions/demo/windows/0')).toMatchObject({
      window_name: 'editor',
      panes: [{ pane_index: 0 }, { pane_index: 1 }],
    });
    const id = tmux('display-message', '-p', '-t', '=demo:1', '#{pane_id}');
    for (const written of [id, id.slice(1), encodeURIComponent(id)])
      expect(await value(client, `tmux://panes/${written}`)).toMatchObject({ pane_id: id, dead: false });
    tmux('respawn-pane', '-k', '-t', id, 'echo a needle; exec cat');
    const content = `tmux://panes/${encodeURIComponent(id)}/content`;
    await until(async () => (await read(client, content)) === 'a needle');
    tmux('rename-session', '-t', '=other:', 'a b/ü');
    const { resources } = await client.listResources();
    const named = resources.find(({ name }) => name === 'a b/ü');
    expect(await value(client, named?.uri ?? '')).toMatchObject({ session_name: 'a b/ü' });
    await read(client, 'tmux://events');
    tmux('rename-window', '-t', '=demo:1', 'told');
    await until(async () => (await read(client, 'tmux://events')).includes('"told"'));
  });

  it('say of what is gone that it is, and what to do', async () => {
    const client = await connect({ safety: 'readonly' });
    for (const [uri, said] of [
      ['tmux://panes/%25999', /there is no "%999" on this tmux server\. list_sessions/],
      ['tmux://panes/%25999/content', /there is no "%999"/],
      ['tmux://panes/{last}', /no id of a pane/],
      ['tmux://sessions/dem', /there is no "dem"/],
      ['tmux://sessions/demo/windows/9', /there is no "demo:9"/],
      ['tmux://windows', /there is no resource "tmux:\/\/windows"\. There are tmux:\/\/sessions/],
      ['file:///etc/passwd', /there is no resource/],
    ] as const)
      await expect([uri, await read(client, uri).catch((error: Error) => error.message)]).toEqual([
        uri,
        expect.stringMatching(said),
      ]);
  });

  it('come with advice, as far as a client may follow it', async () => {
    const client = await connect();
    const listed = await client.listPrompts();
    expect(listed.prompts.map(({ name }) => name)).toEqual(prompts);
    const { tools } = await (await connect({ toolsets: 'tmux,plans' })).listTools();
    const names = new Set(tools.map(({ name }) => name));
    for (const { name, arguments: taken = [] } of listed.prompts) {
      const given = Object.fromEntries(taken.map((one) => [one.name, `the-${one.name}`]));
      const { messages } = await client.getPrompt({ name, arguments: given });
      const text = JSON.stringify(messages);
      for (const word of Object.values(given)) expect(text).toContain(word);
      for (const [tool] of text.matchAll(
        /\b(?:list|capture|grep|send|wait_for|has|create|split|build)_[a-z]+\b/g,
      ))
        expect(names).toContain(tool);
    }
    await expect(client.getPrompt({ name: 'run_and_wait', arguments: { command: 'x' } })).rejects.toThrow(
      /needs target/,
    );
    await expect(client.getPrompt({ name: 'toString' })).rejects.toThrow(
      /no prompt "toString".*run_and_wait/,
    );
    const careful = await connect({ safety: 'readonly' });
    expect((await careful.listPrompts()).prompts.map(({ name }) => name)).toEqual(['diagnose_failing_pane']);
    await expect(careful.getPrompt({ name: 'run_and_wait' })).rejects.toThrow(/for you/);
  });

  it('are there only with the tools they speak of', async () => {
    const client = await connect({ toolsets: 'panes' });
    expect(client.getServerCapabilities()).toMatchObject({ tools: {} });
    expect(client.getServerCapabilities()).not.toHaveProperty('resources');
    expect(client.getServerCapabilities()).not.toHaveProperty('prompts');
  });
});

describe('resources', () => {
  it.each(['legacy', 'auto'] as const)('and progress are in both eras of the protocol: %s', async (era) => {
    const socket = ground.socket();
    const clients = [
      await byStdio(ground.hub, { era, args: ['--toolsets', 'tmux', '--socket-path', socket] }),
      await byHttp(ground.hub, { era, query: `?toolsets=tmux&socket-path=${socket}` }),
    ];
    for (const client of clients) {
      expect((await client.listPrompts()).prompts).toHaveLength(4);
      expect(await value(client, 'tmux://sessions/demo')).toMatchObject({ session_name: 'demo' });
      await expect(client.readResource({ uri: 'tmux://sessions/none' })).rejects.toThrow(
        /there is no "none"/,
      );
      const left = new AbortController();
      const wait = {
        name: 'wait_for_output',
        arguments: { target: 'demo:0.0', settle_ms: 60_000, timeout: 600 },
      };
      const waited = client.callTool(wait, {
        signal: left.signal,
        onprogress: ({ message }) => left.abort(new Error(`told: ${message}`)),
      });
      await expect(waited).rejects.toThrow(/told: waiting/);
      await client.close();
    }
  });

  it('mark what is the caller', async () => {
    const env = inPane('=demo:0.1');
    const client = await ground.overStdio({ env, args: [] });
    expect(await value(client, `tmux://panes/${env.TMUX_PANE?.slice(1)}`)).toMatchObject({ is_caller: true });
    expect(await structured(client, 'get_caller_context')).toMatchObject({ pane_id: env.TMUX_PANE });
  });

  it('are few where no server runs', async () => {
    const query = `?toolsets=tmux&socket-path=${ground.server.directory}/none`;
    const client = await byHttp(ground.hub, { query });
    const { resources } = await client.listResources();
    expect(resources.map(({ uri }) => uri)).toEqual(['tmux://sessions', 'tmux://events']);
    await expect(client.readResource({ uri: 'tmux://sessions' })).rejects.toThrow(/unavailable/);
    await client.close();
  });

  it('are nothing for a program in a pane of the hub', async () => {
    const POLY_TOKEN = await ground.hub.paneToken(`pane-${Math.random().toString(36).slice(2)}`);
    const env = { POLY_TOKEN, POLY_SOCKET: ground.hub.socket };
    const client = await byStdio(ground.hub, { args: ['--toolsets', 'tmux'], env });
    expect(client.getServerCapabilities()).not.toHaveProperty('resources');
    await client.close();
  });

  it('are what the documentation says', () => {
    const page = readFileSync(join(import.meta.dirname, '../../../docs/mcp-tmux.md'), 'utf8');
    for (const name of [...templates, ...prompts, 'tmux://sessions', 'tmux://events'])
      expect(page).toContain(`\`${name}\``);
  });
});
