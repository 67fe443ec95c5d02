import { execFile } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CliGround, type Outcome } from './cli-ground.ts';
import { byHttp, byStdio, program, RawConversation, use } from './mcp-clients.ts';
import { TestHub, until } from './test-hub.ts';

const eras = [
  ['the 2025 era', 'legacy'],
  ['the 2026 era', 'auto'],
] as const;

const everything = ['--toolsets', 'panes,actions', '--safety', 'destructive'];
const idOf = (answer: string): string => /^ID: (\S+)$/m.exec(answer)?.[1] ?? '';

let hub: TestHub;
beforeAll(async () => {
  hub = await TestHub.start();
});
afterAll(() => hub[Symbol.asyncDispose]());

describe.each([
  ['stdio', byStdio],
  ['HTTP', byHttp],
] as const)('over %s', (_, connect) => {
  describe.each(eras)('in %s', (__, era) => {
    it('lists few and small tools, starts a program, waits for it, reads and ends it', async () => {
      const client = await connect(hub, { era });
      const { tools } = await client.listTools();
      expect(tools.map(({ name }) => name)).toEqual([
        ...['spawn', 'write', 'read', 'list', 'kill', 'screen', 'wait'].map((verb) => `pty_${verb}`),
        ...['register_agent', 'unregister_self', 'list_agents', 'send_message', 'send_message_by_id'],
        ...['broadcast', 'broadcast_to_role', 'get_inbox', 'get_delivery_status', 'reconnect'],
      ]);
      expect(JSON.stringify(tools).length).toBeLessThan(12 * 1024);
      expect(client.getInstructions()).toContain('pty_wait');

      const id = idOf(
        await use(client, 'pty_spawn', {
          command: 'sh',
          args: ['-c', 'read line; echo "got $line"; exec cat'],
        }),
      );
      expect(await use(client, 'pty_write', { id, data: 'hello\\n' })).toMatch(/^Sent 6 bytes/);
      expect(await use(client, 'pty_wait', { id, text: '^got hello' })).toContain('Reason: text');
      expect(await use(client, 'pty_read', { id })).toMatch(/got hello/);
      expect(await use(client, 'pty_screen', { id })).toContain('<pty_screen');
      expect(await use(client, 'pty_list')).toContain(`ID: ${id}`);
      expect(await use(client, 'pty_kill', { id, cleanup: true })).toContain('Output: forgotten');
      expect(await use(client, 'pty_read', { id })).toMatch(/^ERROR not_found: .*pty_list/);
      await client.close();
    });
  });

  it('says what is wrong, and what to do next', async () => {
    const client = await connect(hub);
    expect(await use(client, 'pty_spawn', { command: 5 })).toMatch(
      /^ERROR invalid_arguments: pty_spawn: command must be text, not 5/,
    );
    expect(await use(client, 'pty_spawn', { command: 'no-such-program' })).toMatch(
      /^ERROR .*no-such-program/,
    );
    expect(await use(client, 'pty_rm')).toMatch(
      /^ERROR unknown_action: there is no tool "pty_rm" for you\. There are pty_spawn/,
    );
    await client.close();
  });

  it('says of a tool that there is why this client has it not, and who decides', async () => {
    const client = await connect(hub);
    expect(await use(client, 'split_pane', { target: '%1' })).toBe(
      'ERROR forbidden: split_pane: it is of the toolset tmux, which this client has not. Your user decides that, with poly mcp --toolsets panes,mail,tmux.',
    );
    expect(await use(client, 'op_kill_server')).toMatch(/ poly mcp --operations --safety destructive\.$/);
    expect(await use(client, 'shell_run')).toMatch(/ --toolsets panes,mail,actions --safety destructive\.$/);
    await client.close();
    const careful = await connect(hub, { query: '?safety=readonly', args: ['--safety', 'readonly'] });
    expect(await use(careful, 'pty_spawn')).toBe(
      'ERROR forbidden: pty_spawn: it is mutating, and the safety of this client is readonly. Your user decides that, with poly mcp --safety mutating.',
    );
    await careful.close();
    const all = { query: '?toolsets=panes,tmux,actions', args: ['--toolsets', 'panes,tmux,actions'] };
    const many = await connect(hub, all);
    expect(await use(many, 'pty_raed')).toMatch(/ for you\. Did you mean pty_read\? The user chooses more/);
    expect((await use(many, 'xyz')).length).toBeLessThan(200);
    await many.close();
  });

  it('tells an agent at the beginning of the tools it has, and of no others', async () => {
    for (const [toolsets, safety] of [
      ['panes,mail', 'mutating'],
      ['panes', 'readonly'],
      ['mail', 'readonly'],
      ['mail', 'mutating'],
      ['tmux', 'mutating'],
      ['tmux,plans', 'readonly'],
      ['tasks,floor', 'mutating'],
    ]) {
      const asked = `?toolsets=${toolsets}&safety=${safety}`;
      const client = await connect(hub, {
        query: asked,
        args: ['--toolsets', toolsets, '--safety', safety] as string[],
      });
      const names = (await client.listTools()).tools.map(({ name }) => name);
      const told = client.getInstructions()?.match(/\b[a-z]+(_[a-z]+)+\b|\breconnect\b/g) ?? [];
      expect([asked, told.filter((name) => !names.includes(name))]).toEqual([asked, []]);
      if (/panes|mail|tmux/.test(asked)) expect(told).not.toEqual([]);
      await client.close();
    }
  });

  it('speaks of tools, and of commands only as of what its user can do', async () => {
    const all = {
      query: '?toolsets=panes,actions&safety=destructive',
      args: ['--toolsets', 'panes,actions', '--safety', 'destructive'],
    };
    const client = await connect(hub, all);
    for (const [tool, given, says] of [
      ['pane_read', { paneId: 'nobody' }, 'there is no pane "nobody". pty_list shows every pane.'],
      ['pane_read', { paneId: 'x', tail: 'y' }, 'Its input schema says what it takes.'],
      ['pane_new', { backend: 'tmux' }, 'Start it with session_start, or use a pty pane: pty_spawn.'],
      ['extensions_remove', { name: 'nobody' }, 'extensions_list shows them'],
    ] as const)
      expect(await use(client, tool, given)).toContain(says);
    await client.close();
    const few = await connect(hub, { query: '?toolsets=actions', args: ['--toolsets', 'actions'] });
    expect(await use(few, 'pane_read', { paneId: 'nobody' })).toContain('pane_list shows every pane.');
    await few.close();
  });

  it('promises no call back that nobody makes', async () => {
    const client = await connect(hub);
    const { tools } = await client.listTools();
    const spawn = tools.find(({ name }) => name === 'pty_spawn');
    const { notifyOnExit } = (spawn?.inputSchema.properties ?? {}) as Record<string, { description: string }>;
    expect(notifyOnExit?.description).toMatch(/nobody calls you.*pty_wait/);
    expect(notifyOnExit?.description).not.toContain('Be told here');
    await client.close();
  });

  it('cancels a wait whose client no longer wants it', async () => {
    const client = await connect(hub);
    const id = idOf(await use(client, 'pty_spawn', { command: 'cat' }));
    const waiting = new AbortController();
    const waited = client.callTool(
      { name: 'pty_wait', arguments: { id, exit: true } },
      { signal: waiting.signal },
    );
    waiting.abort();
    await expect(waited).rejects.toThrow();
    expect(await use(client, 'pty_list')).toMatch(new RegExp(`ID: ${id}[^]*Status: running`));
    await client.close();
  });
});

describe('what a client may do', () => {
  it('is what the documentation says', async () => {
    const client = await byHttp(hub);
    const { tools } = await client.listTools();
    const rows = tools.map(({ name, annotations }) => [
      name,
      annotations?.readOnlyHint ? 'looks' : 'changes',
    ]);
    const page = readFileSync(join(import.meta.dirname, '../../../docs/mcp.md'), 'utf8');
    expect([...page.matchAll(/^\| `(\w+)` \|.*\| (\w+) \|$/gm)].map(([, ...row]) => row)).toEqual(rows);
    await client.close();
  });

  it('is nothing but looking with readonly', async () => {
    const client = await byHttp(hub, { query: '?toolsets=panes,actions&safety=readonly' });
    const { tools } = await client.listTools();
    expect(tools.every(({ annotations }) => annotations?.readOnlyHint)).toBe(true);
    expect(tools.map(({ name }) => name)).toContain('pane_list');
    for (const name of [
      'pty_spawn',
      'pty_write',
      'pty_kill',
      'pane_new',
      'pane_close',
      'server_stop',
      'shell_run',
    ]) {
      expect(await use(client, name, { command: 'true' })).toMatch(
        /^ERROR forbidden: .* the safety of this client is readonly/,
      );
    }
    await client.close();
  });

  it('is every action, with its result as a value, if that is asked for', async () => {
    const client = await byHttp(hub, { query: '?toolsets=actions&safety=destructive' });
    const { tools } = await client.listTools();
    const stop = tools.find(({ name }) => name === 'server_stop');
    expect(stop?.annotations).toMatchObject({ readOnlyHint: false, destructiveHint: true });
    const status = await client.callTool({ name: 'server_status', arguments: {} });
    expect(status.structuredContent).toMatchObject({ pid: hub.discovery.pid });
    await client.close();
  });

  it.each(['toolsets=pane', 'safety=none'])('refuses %s and says what there is', async (query) => {
    await expect(byHttp(hub, { query: `?${query}` })).rejects.toThrow(
      /there is no (toolset .*pane|safety .*none).*; there are /,
    );
  });

  it('takes no request without a credential, from another origin, or as another method', async () => {
    const post = (headers: Record<string, string>, method: 'POST' | 'GET' = 'POST') =>
      hub.send({ method, path: '/mcp', headers, ...(method === 'POST' && { body: '{}' }) });
    const authorization = `Bearer ${hub.token}`;
    // Without a word: clients take a body that is no message for the end of everything.
    expect(await post({})).toMatchObject({ status: 401, body: '' });
    expect(await post({ authorization: 'Bearer of-nobody' })).toMatchObject({ status: 401, body: '' });
    expect(await post({ authorization, origin: 'http://evil.example' })).toMatchObject({
      ...{ status: 403, body: '' },
    });
    expect(await post({ authorization }, 'GET')).toMatchObject({ status: 405, body: '' });
  });
});

describe('a client that does as it likes', () => {
  const ping = (id: unknown): string => JSON.stringify({ jsonrpc: '2.0', id, method: 'ping' });

  it.each([
    ['is no JSON', 'not json', 1008],
    ['is no greeting', '{"cwd":5}', 1008],
    ['is nested too deep', '['.repeat(100), 1008],
    ['is no text', Buffer.from([0xff, 0xfe]), 1008],
    ['is too large', 'x'.repeat(2 * 1024 * 1024), 1009],
  ])('loses its own connection by a first line that %s', async (_, first, code) => {
    const raw = await RawConversation.open(hub);
    raw.say(first);
    expect(await raw.heard()).toEqual({ end: [code, expect.stringMatching(/./)] });
    await raw.closed;
    expect(await use(await byHttp(hub), 'pty_list')).toContain('<pty_list>');
  });

  it('loses its own connection by a line that is no text, or never ends', async () => {
    for (const [bytes, code] of [
      [Buffer.from([0xff, 0xff, 0x0a]), 1007],
      [Buffer.alloc(2 * 1024 * 1024, 'x'), 1009],
    ] as const) {
      const raw = await RawConversation.open(hub);
      raw.say('{}');
      raw.socket.write(bytes);
      expect(await raw.heard()).toMatchObject({ end: [code, expect.anything()] });
      await raw.closed;
    }
    expect(await use(await byHttp(hub), 'pty_list')).toContain('<pty_list>');
  });

  it.each(['null', '5', '[]', '{"id":1}', ping(null), ping({}), ping(1.5)])(
    'is told that %s is no message',
    async (line) => {
      const raw = await RawConversation.open(hub);
      raw.say('{}');
      raw.say(line);
      expect(await raw.heard()).toMatchObject({ id: null, error: { code: -32600 } });
      raw.socket.destroy();
    },
  );

  it('has at most 64 calls at once', async () => {
    const { id } = await hub.client.call('pane:new', { argv: ['cat'] });
    const raw = await RawConversation.open(hub);
    raw.say('{}');
    const params = {
      protocolVersion: '2025-06-18',
      capabilities: {},
      clientInfo: { name: 'x', version: '1' },
    };
    raw.say(JSON.stringify({ jsonrpc: '2.0', id: 0, method: 'initialize', params }));
    await raw.heard();
    const wait = { name: 'pty_wait', arguments: { id, exit: true } };
    for (let call = 1; call <= 65; call++)
      raw.say(JSON.stringify({ jsonrpc: '2.0', id: call, method: 'tools/call', params: wait }));
    expect(await raw.heard()).toMatchObject({ id: 65, error: { message: expect.stringContaining('64') } });
    raw.socket.destroy();
  });

  it('has one call of an id at once', async () => {
    const { id } = await hub.client.call('pane:new', { argv: ['cat'] });
    const raw = await RawConversation.open(hub);
    raw.say('{}');
    const params = { name: 'pty_wait', arguments: { id, exit: true } };
    const call = JSON.stringify({ jsonrpc: '2.0', id: 7, method: 'tools/call', params });
    raw.say(call);
    raw.say(call);
    const message = expect.stringContaining('7 still runs');
    expect(await raw.heard()).toMatchObject({ id: null, error: { code: -32600, message } });
    raw.socket.destroy();
  });

  it('says nothing more once its pane is gone, whether or not it listens', async () => {
    const raw = await RawConversation.open(hub, await hub.paneToken('soon'));
    raw.say('{}');
    raw.socket.pause();
    await hub.client.call('pane:close', { paneId: 'soon' });
    const params = { name: 'pty_spawn', arguments: { command: 'cat', title: 'after all' } };
    raw.say(JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params }));
    raw.socket.resume();
    await raw.closed;
    const titles = (await hub.client.call('pane:list', {})).map(({ title }) => title);
    expect(titles).not.toContain('after all');
  });

  it('gets no conversation elsewhere, and no other kind of one here', async () => {
    const upgrade = (path: string, to: string) =>
      hub.send({
        ...{ method: 'GET', path },
        headers: { authorization: `Bearer ${hub.token}`, connection: 'upgrade', upgrade: to },
      });
    expect(await upgrade('/ws', 'poly-lines')).toMatchObject({ status: 404 });
    expect(await upgrade('/mcp', 'websocket')).toMatchObject({ status: 404 });
  });
});

describe('an agent in a pane of the hub', () => {
  const own = /^ERROR forbidden: .*would end [\w-]+, the pane you run in\. .*ask your user/;

  it.each([
    ['stdio', (token: string) => byStdio(hub, { env: { POLY_TOKEN: token }, args: everything })],
    ['HTTP', (token: string) => byHttp(hub, { token, query: '?toolsets=panes,actions&safety=destructive' })],
  ])('cannot end the pane it runs in over %s, and ends what it has started', async (way, connect) => {
    const pane = `own-${way}`;
    const client = await connect(await hub.paneToken(pane));
    const started = idOf(await use(client, 'pty_spawn', { command: 'cat' }));
    for (const [tool, given] of [
      ['pty_kill', { id: pane }],
      ['pty_kill', { id: pane, cleanup: true }],
      ['pane_close', { paneId: pane }],
      ['pane_restart', { paneId: pane }],
      ['pane_close_all', {}],
    ] as const)
      expect([tool, await use(client, tool, given)]).toEqual([tool, expect.stringMatching(own)]);
    expect(await use(client, 'pty_kill', { id: started })).toContain('<pty_killed>');
    expect(await use(client, 'pty_list')).toMatch(new RegExp(`ID: ${pane}\n.*Status: running`, 's'));
    await client.close();
  });

  it('is spared too where its variables were kept from it', async () => {
    const line = (message: object): string => JSON.stringify({ jsonrpc: '2.0', ...message });
    const clientInfo = { name: 'stripped', version: '1' };
    const lines = [
      line({
        id: 0,
        method: 'initialize',
        params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo },
      }),
      line({ method: 'notifications/initialized' }),
      line({ id: 1, method: 'tools/call', params: { name: 'pty_kill', arguments: { id: 'stripped' } } }),
    ];
    const variables = Object.entries(hub.env).map(([name, value]) => `${name}='${value}'`);
    const start = `env -i ${variables.join(' ')} '${process.execPath}' '${program}' mcp`;
    const file = join(hub.home, 'stripped');
    const script = `printf '%s\\n' ${lines.map((one) => `'${one}'`).join(' ')} | ${start} >'${file}.part'; mv '${file}.part' '${file}'; exec cat`;
    await hub.client.call('pane:new', { id: 'stripped', argv: ['sh', '-c', script] });
    const answers = await until(() => existsSync(file) && readFileSync(file, 'utf8').trim().split('\n'));
    expect(JSON.parse(answers.at(-1) ?? '')).toMatchObject({
      id: 1,
      result: { isError: true, content: [{ text: expect.stringContaining('the pane you run in') }] },
    });
    await hub.client.call('pane:close', { paneId: 'stripped' });
  });
});

describe('many calls over HTTP', () => {
  it('are at most 64 of one caller at once, however many connections they come by', async () => {
    const { id: mine } = await hub.client.call('pane:new', { argv: ['cat'] });
    const token = await hub.paneToken('busy');
    const { id } = await hub.as(token).call('pane:new', { argv: ['cat'] });
    const call = (asker: string, n: number, params: object, signal?: AbortSignal) =>
      fetch(`${hub.discovery.url}/mcp`, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${asker}`,
          'content-type': 'application/json',
          accept: 'application/json, text/event-stream',
          'mcp-protocol-version': '2025-06-18',
        },
        body: JSON.stringify({ jsonrpc: '2.0', id: n, method: 'tools/call', params }),
        ...(signal && { signal }),
      }).then((answer) => answer.text());
    const wait = (pane: string) => ({ name: 'pty_wait', arguments: { id: pane, exit: true } });
    const list = { name: 'pty_list', arguments: {} };
    const leaving = new AbortController();
    const waits = Array.from({ length: 64 }, (_, n) => call(token, n, wait(id), leaving.signal));
    const refused = await until(async () => {
      const answer = await call(token, 65, list);
      return answer.includes('"error"') && answer;
    });
    expect(JSON.parse(refused)).toMatchObject({
      id: 65,
      error: { code: -32000, message: expect.stringContaining('At most 64 calls run at once') },
    });
    // Others are not held up, and whoever gives up makes room.
    expect(await call(hub.token, 1, list)).toContain(mine);
    leaving.abort();
    await Promise.allSettled(waits);
    expect(await until(async () => (await call(token, 66, list)).includes('pty_list'))).toBe(true);
  });
});

describe('poly mcp', () => {
  it('acts for nobody where it sits in a pane and cannot prove it', async () => {
    const { code, stderr, stdout } = await new Promise<Outcome>((resolve) => {
      const env = { ...(hub.env as Record<string, string>), POLY_PANE: 'agent-pane' };
      execFile(process.execPath, [program, 'mcp'], { env }, (error, out, err) =>
        resolve({ code: error ? Number(error.code) : 0, stdout: out, stderr: err }),
      ).stdin?.end();
    });
    expect([code, stdout]).toEqual([4, '']);
    expect(stderr).toMatch(
      /^poly: this runs in the pane agent-pane, and POLY_TOKEN, which proves it, is missing: .*rights/,
    );
  });

  it('works in the folder of its agent, and with its environment', async () => {
    const cwd = mkdtempSync(join(tmpdir(), 'poly-mcp-'));
    const client = await byStdio(hub, { cwd, env: { FRUIT: 'pear' } });
    const id = idOf(await use(client, 'pty_spawn', { command: 'sh', args: ['-c', 'pwd; echo "$FRUIT"'] }));
    await use(client, 'pty_wait', { id, exit: true });
    expect(await use(client, 'pty_read', { id })).toMatch(new RegExp(`${realpathSync(cwd)}\n.*pear`));
    await client.close();
  });

  it('is the pane it runs in, which sees and ends only what is its own', async () => {
    const strange = idOf(await use(await byStdio(hub), 'pty_spawn', { command: 'cat' }));
    const POLY_TOKEN = await hub.paneToken('agent-pane');
    const client = await byStdio(hub, { env: { POLY_TOKEN, POLY_SOCKET: hub.socket } });
    expect(client.getInstructions()).toContain('You sit in the pane agent-pane');
    const own = idOf(await use(client, 'pty_spawn', { command: 'cat' }));
    const list = await use(client, 'pty_list');
    expect(list).toContain(`ID: ${own}`);
    expect(list).not.toContain(strange);
    expect(await use(client, 'pty_kill', { id: strange })).toMatch(/^ERROR not_found/);
    await client.close();
  });

  it('goes on with another hub in the middle of a wait, and starts it if nobody does', async () => {
    await using ground = new CliGround();
    const client = await byStdio(ground, { era: 'legacy' });
    await client.listTools();
    const id = idOf(await use(client, 'pty_spawn', { command: 'cat' }));
    const { pid } = await ground.json<{ pid: number }>('server', 'status');
    const waited = use(client, 'pty_wait', { id, text: '^after', timeout: 60 });
    process.kill(pid, 'SIGKILL');
    expect(await use(client, 'pty_list')).toContain(`ID: ${id}`);
    expect(await ground.json('server', 'status')).not.toMatchObject({ pid });
    await use(client, 'pty_write', { id, data: 'after\\n' });
    expect(await waited).toContain('Reason: text');
    await client.close();
  });

  it('tries to start a hub with each call that needs one, and says why it could not', async () => {
    await using ground = new CliGround();
    const client = await byStdio(ground);
    // The client asks a first process what it speaks, and may not have heard of the one it keeps.
    expect(await use(client, 'pty_list')).toContain('<pty_list>');
    const { pid } = await ground.json<{ pid: number }>('server', 'status');
    const record = join(ground.home, '.poly', 'hub.db');
    process.kill(pid, 'SIGKILL');
    writeFileSync(record, 'this is no record');
    const refused = /^ERROR no hub is running, and none could be started: .*hub\.db.*\. Your user .*poly up/s;
    expect(await use(client, 'pty_list')).toMatch(refused);
    expect(await use(client, 'pty_list')).toMatch(refused);
    for (const file of [record, `${record}-wal`, `${record}-shm`]) rmSync(file, { force: true });
    expect(await use(client, 'pty_list')).toContain('<pty_list>');
    await client.close();
  });

  it('tells its agent that the hub will not have it any longer, and ends', async () => {
    const POLY_TOKEN = await hub.paneToken('short-lived');
    const client = await byStdio(hub, { env: { POLY_TOKEN, POLY_SOCKET: hub.socket } });
    const ended = new Promise<void>((resolve) => {
      client.onclose = resolve;
    });
    const id = idOf(await use(client, 'pty_spawn', { command: 'cat' }));
    const waited = use(client, 'pty_wait', { id, exit: true });
    await hub.client.call('pane:close', { paneId: 'short-lived' });
    expect(await waited).toMatch(/^ERROR .*the credential was revoked/);
    await ended;
  });

  it('carries every character of a message, and every message of a piece', async () => {
    const client = await byStdio(hub);
    const id = idOf(await use(client, 'pty_spawn', { command: 'cat' }));
    // A line of JSON may hold what other readers of lines take for an end.
    const text = 'a\u2028b\u2029c\u0085d é 😀';
    await use(client, 'pty_write', { id, data: `${text}\n` });
    await use(client, 'pty_wait', { id, text: '😀' });
    const { lines = [] } = await hub.client.call('pane:read', { paneId: id });
    expect(lines[0]?.text.replace(/[^a-dé😀 ]/gu, '')).toBe('abcd é 😀');
    const answers = await Promise.all(Array.from({ length: 50 }, () => use(client, 'pty_list')));
    expect(new Set(answers).size).toBe(1);
    await client.close();
  });

  it('says of a message that is too large how large it may be, and never sends it', async () => {
    const client = await byStdio(hub);
    const pattern = 'é'.repeat(600_000);
    await expect(client.callTool({ name: 'pty_read', arguments: { id: 'x', pattern } })).rejects.toThrow(
      /at most 1048576 bytes/,
    );
    expect(await use(client, 'pty_list')).toContain('<pty_list>');
    await client.close();
  });

  it('starts a hub where none runs, and answers what is no message', async () => {
    await using ground = new CliGround();
    const { stdout } = await ground.run(['mcp'], { input: 'not json\n' });
    expect(JSON.parse(stdout)).toMatchObject({ error: { code: -32700 } });
    expect(await ground.ok('server', 'status')).toContain('panes');
    const refused = await ground.run(['mcp', '--toolsets', 'pane'], { input: '' });
    expect(refused.stderr).toContain('there is no toolset "pane"; there are panes');
    expect(refused.code).toBe(2);
  });
});
