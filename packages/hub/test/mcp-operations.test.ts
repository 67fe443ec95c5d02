import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { AjvJsonSchemaValidator } from '@modelcontextprotocol/client/validators/ajv';
import { operations } from '@polyphony/tmux';
import { describe, expect, it } from 'vitest';
import { structured, use } from './mcp-clients.ts';
import { mcpTmuxGround } from './mcp-tmux-ground.ts';

const ground = mcpTmuxGround();
const { tmux, inPane } = ground;
const asked = { toolsets: '', operations: true } as const;

/** The example of an operation, with places as an agent writes them. */
function exampleOf(example: object): Record<string, unknown> {
  const written = Object.entries(example).map(([name, value]) => {
    const { session, window, pane } = (value ?? {}) as { session?: string; window?: unknown; pane?: unknown };
    const place = [session, window === undefined ? '' : `:${window}`, pane === undefined ? '' : `.${pane}`];
    return [name, session === undefined ? value : place.join('')];
  });
  return Object.fromEntries(written);
}

describe('a tool for each operation', () => {
  it.each([
    ['stdio', ground.overStdio],
    ['HTTP', ground.overHttp],
  ] as const)('is there over %s for those who ask, and for nobody else', async (_, connect) => {
    const client = await connect(asked);
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name).sort()).toEqual(
      operations
        .kinds()
        .map((kind) => `op_${kind}`)
        .sort(),
    );
    const plain = await connect({ toolsets: 'tmux,plans' });
    expect((await plain.listTools()).tools.filter(({ name }) => name.startsWith('op_'))).toEqual([]);
  });

  it('says in JSON Schema what it takes', async () => {
    const client = await ground.overHttp(asked);
    const { tools } = await client.listTools();
    const ajv = new AjvJsonSchemaValidator();
    for (const { kind, example, effect } of operations.catalog()) {
      const tool = tools.find(({ name }) => name === `op_${kind}`);
      const check = ajv.getValidator(tool?.inputSchema as never);
      expect([kind, check(exampleOf(example))]).toMatchObject([kind, { valid: true }]);
      expect([kind, check({ surely: 'not' })]).toMatchObject([kind, { valid: false }]);
      const destroys = effect === 'destructive' || ['run_shell', 'source_file', 'set_hook'].includes(kind);
      if (destroys) expect([kind, tool?.annotations?.destructiveHint]).toEqual([kind, true]);
    }
    // What is no format of JSON Schema is warned of, or refused, by validators that are strict.
    expect(JSON.stringify(tools)).not.toContain('"starts_with"');
    expect(JSON.stringify(tools).length).toBeLessThan(80 * 1024);
  });

  it('runs it', async () => {
    const client = await ground.overStdio({ ...asked, safety: 'mutating' });
    const { value } = await structured(client, 'op_split_window', {
      target: 'demo:logs',
      direction: 'right',
    });
    const { paneId } = value as { paneId: string };
    expect(await use(client, 'op_select_pane', { target: paneId, title: 'mine' })).toBe('Done.');
    expect(tmux('display-message', '-p', '-t', paneId, '#{pane_title} #{window_name}')).toBe('mine logs');
    expect(await structured(client, 'op_has_session', { target: 'dem' })).toEqual({
      kind: 'has_session',
      value: { exists: false },
    });
    expect(await use(client, 'op_rename_window', { target: '@999', name: 'x' })).toMatch(
      /^ERROR not_found: .*can't find window/,
    );
    expect(await use(client, 'op_rename_window', { target: '{last}', name: 'x' })).toMatch(/is no target/);
    expect(await use(client, 'op_rename_window', { target: '@1', title: 'x' })).toMatch(
      /^ERROR invalid_arguments: .*unknown parameter title/,
    );
  });

  it('goes no further than its client may', async () => {
    const marker = join(ground.server.directory, 'ran');
    const evil = `#(touch ${marker})`;
    const mutating = await ground.overHttp({ ...asked, safety: 'mutating' });
    for (const [name, given] of [
      ['op_list_panes', { all: true, filter: evil }],
      ['op_display_message', { message: evil }],
      ['op_new_window', { target: 'demo', shell: `touch ${marker}` }],
      ['op_set_option', { global: true, option: 'default-c', value: `touch ${marker}` }],
    ] as const)
      expect(await use(mutating, name, given)).toMatch(/^ERROR forbidden: .*--safety destructive/);
    expect(await use(mutating, 'op_run_shell', { commandLine: 'true' })).toMatch(
      /^ERROR forbidden: .* is mutating\. Your user/,
    );
    const state = (): string =>
      [tmux('list-panes', '-a'), tmux('show-options', '-g'), tmux('list-buffers'), tmux('list-keys')].join();
    const before = state();
    const readonly = await ground.overHttp({ ...asked, safety: 'readonly' });
    const { tools } = await readonly.listTools();
    expect(tools.every(({ annotations }) => annotations?.readOnlyHint)).toBe(true);
    for (const { kind, example, params } of operations.catalog()) {
      const given = exampleOf(example);
      const texts = params.filter(({ name }) => ['filter', 'message', 'name', 'key'].includes(name));
      const hostile = { ...given, ...Object.fromEntries(texts.map(({ name }) => [name, evil])) };
      await use(readonly, `op_${kind}`, given);
      await use(readonly, `op_${kind}`, hostile);
    }
    const shown = { message: 'hello', client: { client: '/dev/pts/0' } };
    expect(await use(readonly, 'op_display_message', shown)).toMatch(/^ERROR forbidden: .*shows something/);
    expect(state()).toBe(before);
    expect(existsSync(marker)).toBe(false);
  });

  it('starts no server to look at', async () => {
    const args = ['--socket-path', join(ground.server.directory, 'none')];
    const client = await ground.overStdio({ safety: 'readonly', operations: true, args });
    for (const name of ['op_list_keys', 'op_list_commands', 'op_list_sessions', 'op_show_options'])
      expect([name, await use(client, name, name === 'op_show_options' ? { global: true } : {})]).toEqual([
        name,
        expect.stringMatching(/^ERROR unavailable/),
      ]);
  });

  it('spares its caller', async () => {
    const env = inPane('=demo:0.0');
    const own = env.TMUX_PANE ?? '';
    const client = await ground.overStdio({ ...asked, env, args: [] });
    for (const [name, given] of [
      ['op_kill_pane', { target: own }],
      ['op_kill_pane', { target: 'demo:0.1', others: true }],
      ['op_kill_window', { target: 'demo:editor' }],
      ['op_kill_session', { target: 'demo' }],
      ['op_kill_server', {}],
      ['op_respawn_pane', { target: own, kill: true }],
      ['op_unlink_window', { target: 'demo:0', kill: true }],
      ['op_link_window', { source: 'other:0', target: 'demo:0', kill: true }],
      ['op_if_format', { condition: '1', command: 'kill-server' }],
      ['op_bind_key', { key: 'F5', table: 'root', command: 'killp' }],
      ['op_set_hook', { global: true, name: 'after-new-window', command: 'kill-session' }],
      ['op_source_file', { path: '/x' }],
    ] as const)
      expect([name, given, await use(client, name, given)]).toEqual([
        name,
        given,
        expect.stringMatching(/^ERROR forbidden: op_\w+ .*the pane you run in/),
      ]);
    expect(tmux('display-message', '-p', '-t', own, '#{pane_id}')).toBe(own);
    expect(await use(client, 'op_kill_pane', { target: 'demo:0.1' })).toBe('Done.');
    // What the library ties to a look is read through.
    await use(client, 'op_set_buffer', { data: 'words', bufferName: 'some' });
    expect(await use(client, 'op_paste_buffer', { target: 'other:0', bufferName: 'some' })).toBe('Done.');
    expect(await structured(client, 'op_new_session', { name: 'twin', groupWith: 'demo' })).toMatchObject({
      value: { sessionId: expect.stringMatching(/^\$/) },
    });
  });

  it('makes no group with a session that is not there', async () => {
    const sessions = (): string => tmux('list-sessions', '-F', '#{session_name} #{session_group}');
    const before = sessions();
    const client = await ground.overStdio({ ...asked, safety: 'mutating' });
    for (const groupWith of ['absent', 'dem', '$999'])
      expect(await use(client, 'op_new_session', { name: 'twin', groupWith })).toMatch(
        /^ERROR not_found: .*can't find the session to group with/,
      );
    expect(await use(client, 'op_new_session', { groupWith: 'demo:0' })).toMatch(
      /^ERROR invalid_arguments: .*groupWith is a session/,
    );
    expect(sessions()).toBe(before);
  });
});
