import { spawnSync } from 'node:child_process';
import type { CallToolResult, Client } from '@modelcontextprotocol/client';
import { demoServer } from '@polyphony/tmux/testing';
import { describe, expect, it } from 'vitest';
import { CliGround } from './cli-ground.ts';
import { byHttp, byStdio, use } from './mcp-clients.ts';
import { TestHub, until } from './test-hub.ts';

const idOf = (answer: string): string => /^ID: (\S+)$/m.exec(answer)?.[1] ?? '';

/** How a hub ends in the middle of a wait; poly mcp starts the next one. */
const endings = [
  ['killed', (pid: number) => process.kill(pid, 'SIGKILL')],
  ['stopped', (pid: number) => process.kill(pid, 'SIGTERM')],
] as const;

async function endHub(ground: CliGround, end: (pid: number) => void): Promise<void> {
  const { pid } = await ground.json<{ pid: number }>('server', 'status');
  end(pid);
  await until(() => {
    try {
      process.kill(pid, 0);
      return false;
    } catch {
      return true;
    }
  });
}

describe.each(endings)('a wait over stdio whose hub is %s', (_, end) => {
  it('goes on where it was: what was printed before counts no more than it did', async () => {
    await using ground = new CliGround();
    const client = await byStdio(ground, { era: 'legacy' });
    const id = idOf(
      await use(client, 'pty_spawn', {
        command: 'sh',
        args: ['-c', 'while read word; do echo "got $word"; done'],
      }),
    );
    await use(client, 'pty_write', { id, data: 'one\\n' });
    expect(await use(client, 'pty_wait', { id, text: '^got' })).toContain('got one');
    const waited = use(client, 'pty_wait', { id, text: '^got', timeout: 120 });
    await use(client, 'pty_list');
    await endHub(ground, end);
    await use(client, 'pty_write', { id, data: 'two\\n' });
    expect(await waited).toContain('got two');
    await client.close();
  });

  it('hears of an end that nobody was there to hear', async () => {
    await using ground = new CliGround();
    const client = await byStdio(ground, { era: 'legacy' });
    const id = idOf(await use(client, 'pty_spawn', { command: 'sh', args: ['-c', 'read word; exit 7'] }));
    const waited = use(client, 'pty_wait', { id, exit: true, timeout: 120 });
    await use(client, 'pty_write', { id, data: '\\n' });
    await endHub(ground, end);
    expect(await waited).toMatch(/Reason: exit.*7/s);
    await client.close();
  });

  it('says of a pane of tmux how it ended, and that something is missing', async () => {
    await using ground = new CliGround();
    await using server = await demoServer();
    const socket = server.connection.socketPath ?? '';
    const tmux = (...args: readonly string[]): string =>
      spawnSync('tmux', ['-S', socket, ...args], { encoding: 'utf8' }).stdout.trimEnd();
    const pane = tmux(
      ...['new-window', '-d', '-t', '=demo:', '-P', '-F', '#{pane_id}'],
      'read a; echo "first $a"; read b; echo "second $b"; read c; exit 7',
    );
    tmux('set-option', '-p', '-t', pane, 'remain-on-exit', 'on');
    const args = ['--toolsets', 'tmux', '--socket-path', socket];
    const client: Client = await byStdio(ground, { era: 'legacy', args });
    await use(client, 'send_input', { target: pane, keys: 'x', enter: true });
    const given = { target: pane, settle_ms: 60_000, timeout: 300 };
    const waited = client.callTool({ name: 'wait_for_output', arguments: given });
    await use(client, 'list_panes');
    await endHub(ground, end);
    tmux('send-keys', '-t', pane, 'y', 'Enter');
    // A program that prints and ends at once can lose its last line in tmux itself.
    await until(() => tmux('capture-pane', '-p', '-t', pane).includes('second y'));
    tmux('send-keys', '-t', pane, 'Enter');
    await until(() => tmux('display-message', '-p', '-t', pane, '#{pane_dead}') === '1');
    const { structuredContent } = (await waited) as CallToolResult;
    expect(structuredContent).toMatchObject({ reason: 'exited', exit_code: 7, truncated: true });
    expect((structuredContent as { screen: readonly string[] }).screen).toContain('second y');
    await client.close();
    // tmux 3.3a does not end by itself while a client is left whose hub was killed.
    const pid = await server.pid();
    if (pid !== null) process.kill(pid, 'SIGKILL');
  });
});

describe.each(['legacy', 'auto'] as const)('a call that changes something, of the %s era', (era) => {
  it('is told that it may have happened when its hub is killed meanwhile', async () => {
    await using ground = new CliGround();
    await using server = await demoServer();
    const args = ['--toolsets', 'tmux,plans', '--socket-path', server.connection.socketPath ?? ''];
    const client = await byStdio(ground, { era, args });
    const operations = [{ host: { type: 'sleep', ms: 600_000 } }];
    const planned = use(client, 'execute_plan', { operations });
    await use(client, 'list_panes');
    await endHub(ground, (pid) => process.kill(pid, 'SIGKILL'));
    expect(await planned).toMatch(
      /^ERROR The hub was lost while execute_plan ran: it may have happened or not/,
    );
    await client.close();
    // tmux 3.3a does not end by itself while a client is left whose hub was killed.
    const pid = await server.pid();
    if (pid !== null) process.kill(pid, 'SIGKILL');
  });
});

describe('a wait over HTTP whose hub is stopped', () => {
  it('is told that the hub ends, and to call again', async () => {
    await using hub = await TestHub.start();
    await using server = await demoServer();
    const query = new URLSearchParams({
      toolsets: 'tmux',
      'socket-path': server.connection.socketPath ?? '',
    });
    const client = await byHttp(hub, { query: `?${query}` });
    const waited = use(client, 'wait_for_output', { target: 'demo:1', settle_ms: 60_000, timeout: 120 });
    await use(client, 'list_panes');
    await hub.kill('SIGTERM');
    expect(await waited).toMatch(/^ERROR stopping: the hub is stopping\..*call again/);
  });
});

describe('a workspace whose hub is killed while it is built', () => {
  it('is told of as uncertain, and can then be built anew', async () => {
    await using ground = new CliGround();
    await using server = await demoServer();
    const socket = server.connection.socketPath ?? '';
    const tmux = (...args: readonly string[]): string =>
      spawnSync('tmux', ['-S', socket, ...args], { encoding: 'utf8' }).stdout.trimEnd();
    const args = ['--toolsets', 'tmux,plans', '--safety', 'destructive', '--socket-path', socket];
    const client = await byStdio(ground, { args });
    const windows = [{ window_name: 'first', panes: [{ shell: 'cat' }] }];
    const slow = { panes: [{ shell: 'cat', shell_command: [{ cmd: 'never', sleep_before: 600 }] }] };
    const built = use(client, 'build_workspace', {
      spec: { session_name: 'half', windows: [...windows, slow] },
    });
    await until(() => tmux('list-sessions', '-F', '#{session_name}').includes('half'));
    await endHub(ground, (pid) => process.kill(pid, 'SIGKILL'));
    expect(await built).toMatch(
      /^ERROR The hub was lost while build_workspace ran: it may have happened or not/,
    );
    const again = { session_name: 'half', windows };
    expect(await use(client, 'build_workspace', { spec: again })).toMatch(
      /^ERROR conflict: .*"half" already.*on_exists: replace or reuse/,
    );
    expect(await use(client, 'build_workspace', { spec: { ...again, on_exists: 'replace' } })).toContain(
      'half: built anew, 1 windows',
    );
    await client.close();
    // tmux 3.3a does not end by itself while a client is left whose hub was killed.
    const pid = await server.pid();
    if (pid !== null) process.kill(pid, 'SIGKILL');
  });
});
