import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { CallToolResult } from '@modelcontextprotocol/client';
import { isAlive } from '@polyphony/tmux/testing';
import { describe, expect, it } from 'vitest';
import { structured, use } from './mcp-clients.ts';
import { mcpTmuxGround } from './mcp-tmux-ground.ts';
import { until } from './test-hub.ts';

const ground = mcpTmuxGround();
const { tmux, inPane } = ground;
const plans = { toolsets: 'plans' } as const;

const split = { kind: 'split_window', params: { target: 'demo:logs', direction: 'right' } };
const nameIt = { kind: 'select_pane', params: { target: { slot: 0, part: 'pane' }, title: 'made' } };
const bad = { kind: 'rename_window', params: { target: '@999', name: 'x' } };
const last = { kind: 'set_buffer', params: { bufferName: 'after', data: 'x' } };

describe.each([
  ['stdio', ground.overStdio],
  ['HTTP', ground.overHttp],
] as const)('plans over %s', (_, connect) => {
  it('are looked at before anything runs', async () => {
    const client = await connect({ ...plans, safety: 'readonly' });
    const kill = { kind: 'kill_pane', params: { target: '%1', others: true } };
    const before = tmux('list-panes', '-a', '-F', '#{pane_id}');
    const operations = [split, nameIt, kill, { host: { type: 'script', command: 'id' } }];
    expect(await structured(client, 'preview_plan', { operations, version: '3.4' })).toMatchObject({
      version: '3.4',
      effect: 'destructive',
      steps: [
        { index: 0, kind: 'split_window', effect: 'write', argv: expect.arrayContaining(['=demo:=logs']) },
        { kind: 'select_pane', effect: 'write', argv: null, text: expect.stringContaining('{slot 0 pane}') },
        { kind: 'kill_pane', effect: 'destructive', argv: ['kill-pane', '-t', '%1', '-a'] },
        { kind: 'script', effect: 'destructive' },
      ],
    });
    expect(await structured(client, 'explain_plan', { operations: [split, last, last] })).toMatchObject({
      planner: 'folding',
      dispatches: [
        { steps: [0], reason: 'created-id' },
        { steps: [1, 2], reason: 'folded' },
      ],
    });
    expect(tmux('list-panes', '-a', '-F', '#{pane_id}')).toBe(before);
    expect(await use(client, 'execute_plan', { operations: [split] })).toMatch(
      /^ERROR forbidden: .* the safety of this client is readonly/,
    );
  });

  it('run as one, with what they made', async () => {
    const client = await connect({ ...plans, safety: 'mutating' });
    const ensure = {
      probe: {
        kind: 'display_message',
        params: { target: 'demo', message: '#{session_id} #{window_id} #{pane_id}' },
      },
      create: { kind: 'new_session', params: { name: 'demo' } },
    };
    const done = await structured(client, 'execute_plan', { operations: [split, nameIt, ensure, last] });
    const pane = (done.bindings as Record<string, string>)['0:pane'] ?? '';
    expect(tmux('display-message', '-p', '-t', pane, '#{pane_title} #{window_name}')).toBe('made logs');
    expect(done).toMatchObject({
      ok: true,
      failure: null,
      steps: [
        { kind: 'split_window', status: 'complete', value: { paneId: pane } },
        { kind: 'select_pane', status: 'complete' },
        { kind: 'new_session', status: 'complete', found: true },
        { kind: 'set_buffer', status: 'complete' },
      ],
    });
  });

  it('tell each step as it is done', async () => {
    const client = await connect(plans);
    const file = join(ground.server.directory, 'told');
    // A client hears no progress that comes together with the answer: the last step waits until it has heard the others.
    const last = { host: { type: 'script', command: `until [ -e '${file}' ]; do sleep 0.05; done` } };
    const told: string[] = [];
    const onprogress = ({ message = '' }): void => {
      told.push(message);
      if (message.startsWith('step 1')) writeFileSync(file, '');
    };
    const operations = [split, nameIt, last];
    await client.callTool({ name: 'execute_plan', arguments: { operations } }, { onprogress });
    expect(told.slice(0, 3)).toEqual(['waiting', 'step 0 of 3: complete', 'step 1 of 3: complete']);
  });

  it.each(['sequential', 'folding', 'pipelined'])('say exactly which step failed, %s', async (planner) => {
    const client = await connect(plans);
    const first = { kind: 'set_buffer', params: { bufferName: 'before', data: 'x' } };
    const titled = { kind: 'select_pane', params: { target: { slot: 2, part: 'pane' }, title: 'made' } };
    const answer = (await client.callTool({
      name: 'execute_plan',
      arguments: { operations: [first, bad, split, titled], planner },
    })) as CallToolResult;
    expect(answer).toMatchObject({
      isError: true,
      content: [
        { text: expect.stringMatching(/^operations\[1\] \(rename_window\) failed: .*can't find window/) },
      ],
      structuredContent: {
        ok: false,
        failure: 1,
        steps: [
          { kind: 'set_buffer', status: 'complete' },
          { kind: 'rename_window', status: 'failed', error: expect.stringContaining("can't find window") },
          { kind: 'split_window' },
          { kind: 'select_pane' },
        ],
      },
    });
    expect(tmux('show-buffer', '-b', 'before')).toBe('x');
  });

  it('are refused with the place of what is wrong', async () => {
    const client = await connect(plans);
    const refused = (operations: unknown, more: object = {}): Promise<string> =>
      use(client, 'execute_plan', { operations, ...more });
    expect(await refused([last, { kind: 'kill_pan', params: {} }])).toMatch(
      /^ERROR invalid_arguments: operations\[1\]: There is no operation "kill_pan"\. Did you mean kill_pane\?/,
    );
    expect(await refused([{ kind: 'kill_pane', params: { target: '{last}' } }])).toMatch(
      /^ERROR invalid_arguments: operations\[0\]: "\{last\}" is no target/,
    );
    expect(await refused([{ kind: 'kill_pane', params: { target: '%1', al: true } }])).toMatch(
      /operations\[0\]: .*unknown parameter al/,
    );
    expect(await refused([{ what: 1 }])).toMatch(/operations\[0\]: .*is no step.*result_schema/);
    expect(await refused([nameIt])).toMatch(/^ERROR invalid_arguments: operations\[0\]: Slot 0 has no pane/);
    const forward = { kind: 'select_pane', params: { target: { slot: 3, part: 'pane' } } };
    expect(await refused([split, nameIt, forward, split, nameIt])).toMatch(
      /^ERROR invalid_arguments: operations\[2\]: Slot 3 has no pane/,
    );
    expect(await refused([last, last, last, { host: { type: 'sleep', ms: -1 } }])).toMatch(
      /^ERROR invalid_arguments: operations\[3\]: .*host step/,
    );
    expect(await refused([{ host: { type: 'call', name: 'x' } }])).toMatch(
      /^ERROR invalid_arguments: operations\[0\]: .*'sleep' \| 'script' \| 'wait_pane'\./,
    );
    expect(await refused([last], { version: '2.9' })).toMatch(/^ERROR conflict: .*2\.9/);
    expect(await refused([])).toMatch(/^ERROR invalid_arguments/);
    expect(await refused('kill-server')).toMatch(/^ERROR invalid_arguments/);
  });

  it('show what operations take and answer', async () => {
    const client = await connect({ ...plans, safety: 'readonly' });
    expect((await structured(client, 'result_schema')).kinds).toContainEqual(
      expect.objectContaining({ kind: 'kill_pane', effect: 'destructive' }),
    );
    expect(await structured(client, 'result_schema', { kind: 'split_window' })).toMatchObject({
      creates: 'pane',
      result: 'CreatedPane',
      schema: { type: 'object', properties: { paneId: { type: 'string' } } },
      params: { properties: { target: { type: 'string' }, direction: expect.anything() } },
    });
    // As agents write it, and no longer than they want to read.
    const told = await use(client, 'result_schema', { kind: 'rename_window' });
    expect(told).toContain('session:window.pane, or { slot, part }');
    expect(told.length).toBeLessThan(1000);
    expect(await use(client, 'result_schema', { kind: 'nothing' })).toMatch(/^ERROR not_found/);
  });

  it('build a workspace, or nothing of it', async () => {
    const client = await connect({ ...plans, safety: 'mutating' });
    const spec = {
      session_name: 'dev',
      windows: [
        { window_name: 'edit', layout: 'even-horizontal', panes: ['echo one', 'echo two'] },
        { window_name: 'logs' },
      ],
    };
    const built = await structured(client, 'build_workspace', { spec });
    expect(built).toMatchObject({
      ok: true,
      sessions: [{ name: 'dev', action: 'create', windows: [{ name: 'edit' }, { name: 'logs' }] }],
    });
    expect(tmux('list-panes', '-s', '-t', '=dev:', '-F', '#{window_name}')).toBe('edit\nedit\nlogs');
    expect(await use(client, 'build_workspace', { spec })).toMatch(
      /^ERROR conflict: .*"dev".*on_exists: replace or reuse/,
    );
    const reused = { ...spec, on_exists: 'reuse' };
    expect(await structured(client, 'build_workspace', { spec: reused })).toMatchObject({
      sessions: [{ action: 'reuse' }],
    });
    expect(await use(client, 'build_workspace', { spec: reused, preflight: false })).toMatch(
      /^ERROR conflict/,
    );
    const yaml = 'session_name: from-text\nwindows:\n  - window_name: only\n';
    expect(await structured(client, 'build_workspace', { spec: yaml })).toMatchObject({ ok: true });
    const file = join(ground.server.directory, 'dev.yaml');
    writeFileSync(file, yaml.replace('from-text', 'from-file'));
    expect(await structured(client, 'build_workspace', { spec: file })).toMatchObject({ ok: true });
    expect(await use(client, 'build_workspace', { spec: '/dev/zero' })).toMatch(
      /^ERROR invalid_arguments: spec: \/dev\/zero is no file that could hold a workspace/,
    );
    expect(await use(client, 'build_workspace', { spec: { session_name: 'x' } })).toMatch(
      /^ERROR invalid_arguments: .*windows/,
    );
    const fails = {
      session_name: 'half',
      windows: [{ window_name: 'a' }, { window_name: 'b', options: { 'no-such-option': 'x' } }],
    };
    expect(await structured(client, 'build_workspace', { spec: fails })).toMatchObject({
      ok: false,
      error: { session: 'half', window: 1 },
    });
    expect(tmux('list-sessions', '-F', '#{session_name}').split('\n')).not.toContain('half');
  });

  it('end on the server when nobody wants them any longer', async () => {
    const client = await connect(plans);
    const file = join(ground.server.directory, 'pid');
    const script = {
      host: { type: 'script', command: `echo $$ >'${file}.part'; mv '${file}.part' '${file}'; sleep 600` },
    };
    const left = new AbortController();
    const call = { name: 'execute_plan', arguments: { operations: [script] } };
    const waited = client.callTool(call, { signal: left.signal });
    waited.catch(() => undefined);
    const pid = Number(await until(() => existsSync(file) && readFileSync(file, 'utf8')));
    expect(await isAlive(pid)).toBe(true);
    left.abort();
    await expect(waited).rejects.toThrow();
    await until(async () => !(await isAlive(pid)));
  });
});

describe('how far a plan goes', () => {
  const further: readonly (readonly [string, object])[] = [
    ['kill_pane', { target: 'demo:0.1' }],
    ['kill_server', {}],
    ['new_window', { target: 'demo', shell: 'id' }],
    ['new_window', { target: 'demo:1', kill: true }],
    ['split_window', { target: 'demo', environment: { A: 'b' } }],
    ['run_shell', { commandLine: 'id' }],
    ['pipe_pane', { target: 'demo:0.0', commandLine: 'cat' }],
    ['source_file', { path: '/x' }],
    ['set_hook', { global: true, name: 'after-new-window', command: 'list-panes' }],
    ['bind_key', { key: 'F5', command: 'list-panes' }],
    ['set_option', { global: true, option: 'default-c', value: 'id' }],
    ['set_option', { global: true, option: '@x', value: '#{pane_title}', expandFormats: true }],
    ['set_option', { global: true, option: 'status-left', value: '#(id)' }],
    ['set_window_option', { global: true, option: 'pane-border-format', value: '#{E:x}' }],
    ['set_environment', { global: true, name: 'LD_PRELOAD', value: '/x' }],
    ['display_message', { message: '#(id)' }],
    ['list_panes', { all: true, filter: '#(id)' }],
    ['respawn_pane', { target: 'demo:0.0', kill: true }],
    ['save_buffer', { bufferName: 'note', path: '/tmp/x' }],
    ['send_keys', { target: 'demo:0.0', copyModeCommand: ['copy-pipe', 'id'] }],
    ['choose_tree', { target: 'demo:0.0' }],
    ['find_window', { target: 'demo:0.0', match: 'logs' }],
    ['if_format', { condition: '1', command: 'list-panes' }],
  ];

  it('is how far its furthest step goes, told before the first has run', async () => {
    const client = await ground.overHttp({ ...plans, safety: 'mutating' });
    for (const [kind, params] of further) {
      const answer = await use(client, 'execute_plan', { operations: [last, { kind, params }] });
      expect([kind, answer]).toEqual([
        kind,
        expect.stringMatching(
          /^ERROR forbidden: execute_plan: operations\[1\] \(\w+\): .* Your user decides that, with poly mcp --safety destructive\.$/,
        ),
      ]);
    }
    expect(tmux('list-buffers', '-F', '#{buffer_name}')).toBe('note');
  });

  it.each([
    ['before_script', { before_script: 'touch x' }],
    ['environment', { environment: { A: 'b' } }],
    ['an option tmux runs', { options: { 'default-command': 'id' } }],
    ['a hook', { global_options: { 'after-new-window': 'kill-server' } }],
    ['a shell', { windows: [{ panes: [{ shell: 'id' }] }] }],
    ['a format', { windows: [{ options: { 'pane-border-format': '#(id)' } }] }],
    ['replacing', { session_name: 'demo', on_exists: 'replace' }],
  ])('is more for a workspace with %s', async (_, more) => {
    const client = await ground.overHttp({ ...plans, safety: 'mutating' });
    const spec = { session_name: 'dev', windows: [{ window_name: 'a' }], ...more };
    expect(await use(client, 'build_workspace', { spec })).toMatch(
      /^ERROR forbidden: build_workspace: .*destructive/,
    );
    expect(tmux('list-sessions', '-F', '#{session_name}')).toBe('demo\nother');
  });

  it('is what the documentation says', async () => {
    const { tools } = await (await ground.overHttp(plans)).listTools();
    const page = readFileSync(join(import.meta.dirname, '../../../docs/mcp-plans.md'), 'utf8');
    const rows = [...page.matchAll(/^\| `(\w+)` \|.*\| (\w+) \|$/gm)].map(
      ([, name, does]) => `${name} ${does}`,
    );
    const effects = tools.map(
      ({ name, annotations }) => `${name} ${annotations?.readOnlyHint ? 'looks' : 'changes'}`,
    );
    expect(rows.sort()).toEqual(effects.sort());
    expect(JSON.stringify(tools).length).toBeLessThan(5 * 1024);
  });

  it('is nothing for a program in a pane of the hub', async () => {
    const POLY_TOKEN = await ground.hub.paneToken(`pane-${Math.random().toString(36).slice(2)}`);
    const client = await ground.overStdio({
      ...plans,
      operations: true,
      env: { POLY_TOKEN, POLY_SOCKET: ground.hub.socket },
    });
    expect((await client.listTools()).tools).toEqual([]);
    for (const name of ['execute_plan', 'op_list_panes'])
      expect(await use(client, name)).toMatch(/^ERROR forbidden: \w+ is not for programs in panes/);
  });
});

describe('the caller', () => {
  it('is spared by every step, also one that finds it only on the way', async () => {
    const env = inPane('=demo:0.0');
    const own = env.TMUX_PANE ?? '';
    const client = await ground.overStdio({ ...plans, env, args: [] });
    const run = (...operations: object[]): Promise<string> => use(client, 'execute_plan', { operations });
    for (const [kind, params] of [
      ['kill_pane', { target: own }],
      ['kill_pane', { target: 'demo:0.1', others: true }],
      ['kill_window', { target: 'demo:editor' }],
      ['kill_session', { target: 'demo' }],
      ['kill_session', { target: 'other', others: true }],
      ['kill_server', {}],
      ['respawn_window', { target: 'demo:0', kill: true }],
      ['unlink_window', { target: 'demo:0', kill: true }],
      ['new_window', { target: 'demo:0', kill: true }],
      ['move_window', { source: 'demo:1', target: 'demo:0', kill: true }],
      ['if_format', { condition: '1', command: 'kill-server' }],
      ['source_file', { path: '/x' }],
      ['set_option', { server: true, option: 'exit-un', value: 'on' }],
    ] as const) {
      const answer = await run(last, { kind, params });
      expect([kind, answer]).toEqual([
        kind,
        expect.stringMatching(/^ERROR forbidden: execute_plan: operations\[1\].*the pane you run in/),
      ]);
    }
    expect(tmux('list-buffers', '-F', '#{buffer_name}')).toBe('note');
    // By the time it is ended it has another name; before, nothing is called so.
    const renamed = { kind: 'rename_session', params: { target: 'demo', name: 'soon' } };
    const late = { kind: 'kill_session', params: { target: 'soon' } };
    const found = {
      probe: {
        kind: 'display_message',
        params: { target: 'soon', message: '#{session_id} #{window_id} #{pane_id}' },
      },
      create: { kind: 'new_session', params: { name: 'soon' } },
    };
    for (const planner of ['sequential', 'folding', 'pipelined'])
      for (const steps of [
        [renamed, late],
        [renamed, found, { kind: 'kill_session', params: { target: { slot: 1, part: 'self' } } }],
      ]) {
        expect(
          await structured(client, 'execute_plan', { operations: [...steps, last], planner }),
        ).toMatchObject({
          ok: false,
          failure: steps.length - 1,
          steps: [
            ...steps.slice(1).map(() => ({ status: 'complete' })),
            { status: 'failed', error: expect.stringMatching(/the pane you run in/) },
            { status: 'skipped' },
          ],
        });
        tmux('rename-session', '-t', '=soon:', 'demo');
      }
    const made = { kind: 'new_session', params: { name: 'mine' } };
    const ended = { kind: 'kill_session', params: { target: { slot: 0, part: 'self' } } };
    expect(await structured(client, 'execute_plan', { operations: [made, ended] })).toMatchObject({
      ok: true,
    });
    expect(tmux('display-message', '-p', '-t', own, '#{session_name}')).toBe('demo');
  });

  it('is spared by a workspace that replaces its session', async () => {
    const client = await ground.overStdio({ ...plans, env: inPane('=demo:0.0'), args: [] });
    const spec = { session_name: 'demo', on_exists: 'replace', windows: [{ window_name: 'a' }] };
    expect(await use(client, 'build_workspace', { spec })).toMatch(/^ERROR forbidden: .*the pane you run in/);
    expect(tmux('list-sessions', '-F', '#{session_name}')).toBe('demo\nother');
    expect(
      await structured(client, 'build_workspace', { spec: { ...spec, session_name: 'other' } }),
    ).toMatchObject({
      sessions: [{ name: 'other', action: 'replace' }],
    });
  });

  it('is spared by a script that speaks to tmux', async () => {
    const env = inPane('=demo:0.0');
    const client = await ground.overStdio({ ...plans, env, args: [] });
    const script = (command: string): Record<string, unknown> => ({
      operations: [{ host: { type: 'script', command } }],
    });
    const bye = `tmux -S ${ground.socket()} kill-server`;
    expect(await use(client, 'execute_plan', script(bye))).toMatch(/^ERROR .*the pane you run in/s);
    const spec = { session_name: 'late', before_script: bye, windows: [{ window_name: 'a' }] };
    expect(await use(client, 'build_workspace', { spec })).toMatch(/^ERROR .*the pane you run in/s);
    expect(tmux('list-sessions', '-F', '#{session_name}')).toBe('demo\nother');
    expect(await use(client, 'execute_plan', script('echo kill'))).toMatch(/^All 1 steps/);
  });
});
