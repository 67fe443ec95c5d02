import { spawnSync } from 'node:child_process';
import { dirname } from 'node:path';
import type { CallToolResult } from '@modelcontextprotocol/client';
import { demoServer, testBinaries } from '@polyphony/tmux/testing';
import { describe, expect, it } from 'vitest';
import { byHttp } from './mcp-clients.ts';
import { TestHub, until } from './test-hub.ts';

/** The hub takes the tmux that comes first on its PATH. */
const pathTo = (binary: string): string =>
  binary.includes('/') ? `${dirname(binary)}:${process.env.PATH}` : (process.env.PATH ?? '');

describe.each(testBinaries())('the tmux tools with %s', (binary) => {
  it('make, fill, wait for, read, find, watch and end', async () => {
    await using hub = await TestHub.start({ env: { PATH: pathTo(binary) } });
    await using server = await demoServer({ tmux: binary });
    const socket = server.connection.socketPath ?? '';
    const query = new URLSearchParams({ toolsets: 'tmux', safety: 'destructive', 'socket-path': socket });
    const client = await byHttp(hub, { query: `?${query}` });
    const tmux = (...args: readonly string[]): string =>
      spawnSync(binary, ['-S', socket, ...args], { encoding: 'utf8' }).stdout.trimEnd();
    const call = async (
      name: string,
      given: Record<string, unknown> = {},
    ): Promise<Record<string, unknown> & { readonly text: string }> => {
      const { structuredContent, content, isError } = (await client.callTool({
        name,
        arguments: given,
      })) as CallToolResult;
      const [first] = content;
      const text = first?.type === 'text' ? first.text : '';
      return { text: isError ? `ERROR ${text}` : text, ...(structuredContent as Record<string, unknown>) };
    };

    expect((await call('list_sessions')).sessions).toMatchObject([
      { session_name: 'demo' },
      { session_name: 'other' },
    ]);
    expect((await call('list_windows')).windows).toHaveLength(4);
    expect((await call('list_panes')).panes).toHaveLength(5);
    const made = await call('create_session', { name: 'mine', width: 100, height: 30 });
    const { pane_id: pane } = await call('split_pane', { target: made.pane_id, horizontal: true });
    expect(tmux('list-panes', '-t', '=mine:', '-F', '#{pane_id}').split('\n')).toHaveLength(2);
    expect(await call('resolve_relative_pane', { direction: 'right', origin: made.pane_id })).toMatchObject({
      pane_id: pane,
    });

    tmux('set-option', '-p', '-t', String(pane), 'remain-on-exit', 'on');
    await call('respawn_pane', { target: pane, kill: true, shell: 'PS1="ready> " exec sh -i' });
    await until(async () => (await call('capture_pane', { target: pane })).text.includes('ready>'));
    await call('send_input', { target: pane, keys: 'echo "é $((20 + 22))"', literal: true, enter: true });
    const heard = await call('wait_for_output', { target: pane });
    expect(heard).toMatchObject({ reason: 'finished', truncated: false });
    expect(heard.text).toContain('é 42');
    expect((await call('grep_pane', { target: pane, pattern: '^É' })).text).toContain('é 42');
    expect((await call('search_panes', { pattern: 'é 42' })).text).toMatch(/^1 of 7 panes/);
    await call('send_input', { target: pane, keys: 'exit 7', enter: true });
    expect(await call('wait_for_output', { target: pane, settle_ms: 60_000 })).toMatchObject({
      reason: 'exited',
      exit_code: 7,
    });

    const { next } = await call('poll_events');
    await call('rename_window', { target: made.window_id, name: 'a #(name)' });
    const kinds = ['window-renamed', 'unlinked-window-renamed'];
    const watched = await call('watch_events', { since: next, kinds, max_events: 1, timeout: 60 });
    expect(watched.events).toMatchObject([{ name: 'a #(name)' }]);
    await call('set_option', { option: '@note', value: 'kept', target: 'mine' });
    expect(await call('show_options', { target: 'mine' })).toMatchObject({ options: { '@note': 'kept' } });
    await call('set_buffer', { data: 'two\nlines', buffer_name: 'b' });
    expect((await call('show_buffer', { buffer_name: 'b' })).text).toBe('two\nlines');
    expect((await call('new_pane', { target: made.pane_id })).text).toMatch(/^Pane %|needs tmux 3\.7/);
    await call('kill_pane', { target: pane });
    await call('kill_session', { target: 'mine' });
    expect(await call('has_session', { target: 'mine' })).toMatchObject({ exists: false });
    await client.close();
  });
});
