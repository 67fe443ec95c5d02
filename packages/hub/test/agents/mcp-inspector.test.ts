import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { program } from '../mcp-clients.ts';
import { TestHub } from '../test-hub.ts';
import { installProgram } from './installed-agents.ts';

/** It brings a page, a terminal and what builds them, 110 MB: too much for those who only run the tests. */
const inspector = {
  name: '@modelcontextprotocol/inspector',
  version: '2.12.0',
  program: '@modelcontextprotocol/inspector/clients/launcher/build/index.js',
};

let hub: TestHub;
let path: string;
let home: string;
beforeAll(async () => {
  path = await installProgram('inspector', inspector);
  hub = await TestHub.start();
  home = mkdtempSync(join(tmpdir(), 'poly-inspector-'));
});
afterAll(async () => {
  await hub?.[Symbol.asyncDispose]();
  rmSync(home, { recursive: true, force: true });
});

interface Outcome {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

function inspect(args: readonly string[]): Promise<Outcome> {
  const env = { ...hub.env, HOME: home } as NodeJS.ProcessEnv;
  return new Promise((resolve) => {
    execFile(process.execPath, [path, '--cli', ...args], { env, cwd: home }, (error, stdout, stderr) =>
      resolve({ code: error === null ? 0 : Number(error.code), stdout, stderr }),
    );
  });
}

const more = 'panes,tmux,actions';
const places = {
  stdio: () => [
    ...[process.execPath, program, 'mcp', '--toolsets', more, '--safety', 'destructive'],
    // It hands its own environment on only in part: without this, another hub would be started in its home.
    ...['-e', `POLY_HOME=${hub.dir}`],
  ],
  HTTP: () => [
    `${hub.discovery.url}/mcp?toolsets=${more}&safety=destructive`,
    ...['--header', `authorization: Bearer ${hub.token}`],
  ],
};

describe.each(Object.entries(places))('the MCP Inspector over %s', (_, place) => {
  const call = (name: string, ...given: readonly string[]): Promise<Outcome> =>
    inspect([
      ...place(),
      ...['--method', 'tools/call', '--tool-name', name],
      ...given.flatMap((pair) => ['--tool-arg', pair]),
    ]);

  it('lists the tools, and finds no schema that a client could stumble over', async () => {
    const { code, stdout, stderr } = await inspect([...place(), '--method', 'tools/list', '--strict']);
    expect([code, stderr]).toEqual([0, '']);
    const { tools } = JSON.parse(stdout) as { readonly tools: readonly { readonly name: string }[] };
    expect(tools.map(({ name }) => name)).toEqual(
      expect.arrayContaining(['pty_spawn', 'pane_new', 'kill_pane']),
    );
  });

  it('calls one', async () => {
    const { code, stdout } = await call('pty_spawn', 'command=cat', 'title=inspected');
    expect([code, stdout]).toEqual([0, expect.stringContaining('Title: inspected')]);
    const titles = (await hub.client.call('pane:list', {})).map(({ title }) => title);
    expect(titles).toContain('inspected');
    await hub.client.call('pane:close-all', {});
  });

  it('is told of a tool that is not there, and of arguments that do not fit', async () => {
    expect(await call('pty_rm')).toMatchObject({ code: 5, stderr: expect.stringContaining('pty_rm') });
    const { code, stdout } = await call('pty_read', 'id=sample', 'limit=many');
    expect([code, stdout]).toEqual([5, expect.stringMatching(/invalid_arguments: pty_read: limit must be/)]);
  });
});
