import { chmodSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';
import type { Approval, Client, PolyError } from '@polyphony/protocol';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { TestHub, until } from './test-hub.ts';

const config = `
[permission.write]
"open-*" = "allow"
"open-shut" = "deny"
"open-maybe" = "ask"

[permission.spawn]
"sleep *" = "ask"
"claude" = "ask"
"cat" = "deny"
"sh -c exit*" = "deny"

[permission.directory]
"/usr" = "ask"
"/usr/lib" = "deny"
"/var/../usr/share" = "allow"
`;

/** The approval that waits for a call; the calls of a test come one after the other. */
const waiting = (hub: TestHub): Promise<Approval> =>
  until(async () => (await hub.client.call('approval:list', {})).approvals[0]);
const resolve = (hub: TestHub, id: string, decision: 'allow' | 'deny') =>
  hub.client.call('approval:resolve', { id, decision });
const failure = (call: Promise<unknown>): Promise<PolyError> =>
  call.then(
    (result) => Promise.reject(new Error(`it went well: ${JSON.stringify(result)}`)),
    (error: PolyError) => error,
  );
const printed = async (hub: TestHub, paneId: string): Promise<string> =>
  ((await hub.client.call('pane:read', { paneId })).lines ?? []).map(({ text }) => text).join('\n');

describe('a call that is to be asked for', () => {
  let hub: TestHub;
  let token: string;
  let pane: Client;
  beforeAll(async () => {
    hub = await TestHub.start({ config });
    token = await hub.paneToken('asker');
    pane = hub.as(token);
    for (const id of ['worker', 'open-1', 'open-shut', 'open-maybe'])
      await hub.client.call('pane:new', { id, argv: ['cat'] });
  });
  afterEach(async () => {
    // What a test that failed has left must not answer the next.
    const { approvals } = await hub.client.call('approval:list', {});
    for (const { id } of approvals) await resolve(hub, id, 'deny');
  });
  afterAll(() => hub[Symbol.asyncDispose]());

  it('waits with all it would do, and goes on when it is allowed', async () => {
    const data = `first ${'x'.repeat(5000)} \u202elast`;
    const call = pane.call('pane:write', { paneId: 'worker', data, enter: true });
    const approval = await waiting(hub);
    expect(approval).toEqual({
      id: expect.stringMatching(/^apr_[0-9a-f]{8}$/),
      kind: 'write',
      action: 'pane:write',
      paneId: 'worker',
      text: `${data}\r`,
      reason: expect.stringContaining('[permission.write]'),
      by: 'agent:asker',
      pane: 'asker',
      createdAt: expect.any(String),
      expiresAt: new Date(Date.parse(approval.createdAt) + 300_000).toISOString(),
    });
    expect(await hub.client.call('server:status', {})).toMatchObject({ approvals: 1 });
    expect(await printed(hub, 'worker')).toBe('');
    expect(await resolve(hub, approval.id, 'allow')).toEqual({ id: approval.id, decision: 'allow' });
    await expect(call).resolves.toEqual({ bytes: Buffer.byteLength(data) + 1 });
    expect(await hub.client.call('approval:list', {})).toEqual({ approvals: [] });
    const resolved = await hub.event('approval:resolved');
    expect(resolved.payload).toEqual({ id: approval.id, decision: 'allow' });
    expect(resolved.source).toMatch(/^user:/);
  });

  it('is refused when it is denied, with who did, and the next one asks again', async () => {
    for (let time = 0; time < 2; time++) {
      const call = failure(pane.call('pane:close', { paneId: 'worker' }));
      const { id, kind } = await waiting(hub);
      await resolve(hub, id, 'deny');
      const { code, message, hint } = await call;
      expect([kind, code]).toEqual(['close', 'forbidden']);
      expect(message).toMatch(/^asker may not touch the pane worker: user:.+ denied it\.$/);
      expect(hint).toMatch(/config\.toml/);
    }
    expect(await hub.client.call('pane:get-meta', { paneId: 'worker' })).toMatchObject({ id: 'worker' });
  });

  it.each([
    ['pane:read', { paneId: 'worker' }, { kind: 'read' }],
    [
      'pane:write',
      { paneId: 'worker', data: Buffer.from('rm -rf .').toString('base64'), encoding: 'base64', enter: true },
      { kind: 'write', text: 'rm -rf .\r' },
    ],
    ['pane:keys', { paneId: 'worker', keys: ['C-l', 'F5'] }, { kind: 'write', text: 'C-l F5' }],
    ['agent:message', { paneId: 'worker', text: 'hi' }, { kind: 'write', text: 'hi' }],
    [
      'pane:set-meta',
      { paneId: 'worker', key: 'a', value: 1 },
      { kind: 'write', text: '{"key":"a","value":1}' },
    ],
    ['pane:close', { paneId: 'nobody' }, { kind: 'close', paneId: 'nobody' }],
    ['extensions:install', { from: '/tmp/x' }, { kind: 'extension', text: '{"from":"/tmp/x"}' }],
    ['extensions:remove', { name: 'x' }, { kind: 'extension', text: '{"name":"x"}' }],
  ])('may be %s %j', async (name, params, shown) => {
    const call = failure(pane.call(name as string, params));
    const approval = await waiting(hub);
    expect(approval).toMatchObject({ action: name, ...shown });
    await resolve(hub, approval.id, 'deny');
    expect(await call).toMatchObject({ code: 'forbidden' });
  });

  it('may be to start a pane anew, and shows no value of a variable', async () => {
    const env = { SECRET: 'hunter2' };
    const call = failure(pane.call('pane:restart', { paneId: 'worker', env }));
    const approval = await waiting(hub);
    expect(approval).toMatchObject({ action: 'pane:restart', kind: 'restart', paneId: 'worker' });
    expect(approval).toMatchObject({ command: ['cat'], cwd: hub.home, env: ['SECRET'] });
    expect(JSON.stringify(approval)).not.toContain('hunter2');
    await resolve(hub, approval.id, 'deny');
    expect(await call).toMatchObject({ code: 'forbidden' });
  });

  it('may be to start a pane anew with other code, and says so', async () => {
    for (const paneId of ['worker', 'nobody']) {
      const env = { LD_PRELOAD: '/tmp/x.so', PATH: hub.env.PATH ?? '', A: '1' };
      const call = failure(pane.call('pane:restart', { paneId, env }));
      const approval = await waiting(hub);
      expect(approval).toMatchObject({
        env: ['A', 'LD_PRELOAD'],
        reason: expect.stringMatching(/, and LD_PRELOAD can make it run other code$/),
      });
      await resolve(hub, approval.id, 'deny');
      expect(await call).toMatchObject({ code: 'forbidden' });
    }
  });

  it('is judged by the rules for panes', async () => {
    await expect(pane.call('pane:write', { paneId: 'open-1', data: 'x' })).resolves.toEqual({ bytes: 1 });
    expect(await failure(pane.call('pane:write', { paneId: 'open-shut', data: 'x' }))).toMatchObject({
      code: 'forbidden',
      message: 'asker may not touch the pane open-shut: config.toml denies it.',
    });
    const call = failure(pane.call('pane:write', { paneId: 'open-maybe', data: 'x' }));
    const { id, reason } = await waiting(hub);
    expect(reason).toBe('[permission.write] "open-maybe" = "ask"');
    await resolve(hub, id, 'deny');
    await call;
  });

  it.each([
    [['cat']],
    [['/bin/cat', '/etc/hostname']],
    [['sh', '-c', 'exit 3']],
    [['true'], '/usr/lib'],
    [['true'], '/usr/share/../lib'],
  ])('is refused at once for %j, there: %s', async (argv, cwd = '/') => {
    expect(await failure(pane.call('pane:new', { argv, cwd }))).toMatchObject({
      code: 'forbidden',
      message: expect.stringMatching(/^asker may not start ".*" in .*: config\.toml denies it\.$/),
    });
  });

  it.each([[['true'], '/'], [['env', 'X=1', 'cat', '/dev/null']], [['true'], '/usr/share']])(
    'is needed by nobody for %j, there: %s',
    async (argv, cwd = '/') => {
      await expect(pane.call('pane:new', { argv, cwd })).resolves.toMatchObject({ backend: 'pty' });
    },
  );

  it('shows a program with its arguments, its real folder and the names of its variables', async () => {
    const { seq: since } = await hub.client.emit('before', {});
    const env = { SECRET: 'canary', HOME: hub.home, PATH: `/nowhere:${hub.env.PATH}` };
    const call = pane.call('pane:new', { argv: ['sleep', '1000'], cwd: '/usr/../usr/bin/..', env });
    const approval = await waiting(hub);
    expect(approval).toMatchObject({
      kind: 'spawn',
      action: 'pane:new',
      command: ['sleep', '1000'],
      cwd: '/usr',
      env: ['PATH', 'SECRET'],
      reason: '[permission.spawn] "sleep *" = "ask", [permission.directory] "/usr" = "ask"',
    });
    expect(JSON.stringify(approval)).not.toContain('canary');
    for await (const event of hub.events('approval:*', { since })) {
      const { id, kind, action, reason, expiresAt } = approval;
      expect(event).toMatchObject({ event: 'approval:requested', source: 'agent:asker', pane: 'asker' });
      expect(event.payload).toEqual({ id, kind, action, reason, expiresAt });
      break;
    }
    await resolve(hub, approval.id, 'allow');
    const { id } = await call;
    await expect(pane.call('pane:close', { paneId: id })).resolves.toEqual({});
  });

  it('shows an agent with the flags it would get', async () => {
    const params = { argv: ['/nowhere/claude'], model: 'opus', prompt: 'and more' };
    const call = failure(pane.call('agent:create', params));
    const approval = await waiting(hub);
    const command = ['/nowhere/claude', '--model', 'opus', '--permission-mode', 'manual', '--', 'and more'];
    expect(approval).toMatchObject({ kind: 'spawn', action: 'agent:create', command });
    await resolve(hub, approval.id, 'deny');
    expect(await call).toMatchObject({ code: 'forbidden' });
  });

  it('is never asked of the user', async () => {
    const { id } = await hub.client.call('pane:new', { argv: ['cat'], cwd: '/usr/lib' });
    await hub.client.call('pane:write', { paneId: 'open-shut', data: 'x' });
    await hub.client.call('pane:close', { paneId: id });
  });

  it('is the same for sessions, whichever way they are started and typed into', async () => {
    const post = async (path: string, body: object) => {
      const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
      const sent = { method: 'POST', path, headers, body: JSON.stringify(body) } as const;
      const answer = await hub.send(sent);
      return [answer.status, JSON.parse(answer.body).error?.code];
    };
    const before = await hub.client.call('pane:list', {});
    const denied = [{ command: 'cat' }, { command: '/bin/cat' }, { command: 'sh', args: ['-c', 'exit 1'] }];
    for (const body of denied) expect(await post('/api/sessions', body)).toEqual([403, 'forbidden']);
    const shut = await post('/api/sessions/open-shut/input', { data: 'never-typed' });
    expect(shut).toEqual([403, 'forbidden']);
    const asked = post('/api/sessions', { command: 'sleep', args: ['1000'] });
    const { id, command } = await waiting(hub);
    expect(command).toEqual(['sleep', '1000']);
    await resolve(hub, id, 'deny');
    expect(await asked).toEqual([403, 'forbidden']);
    const { url } = hub.discovery;
    const socket = new WebSocket(`${url.replace('http', 'ws')}/ws`, {
      headers: { authorization: `Bearer ${token}` },
    });
    const heard: { readonly type: string; readonly code?: string }[] = [];
    socket.on('message', (data) => heard.push(JSON.parse(String(data))));
    await new Promise((opened) => socket.once('open', opened));
    for (const body of denied) socket.send(JSON.stringify({ type: 'spawn', ...body }));
    socket.send(JSON.stringify({ type: 'input', sessionId: 'open-shut', data: 'never-typed' }));
    const errors = await until(() => {
      const found = heard.filter(({ type }) => type === 'error');
      return found.length === denied.length + 1 && found;
    });
    expect(errors.map(({ code }) => code)).toEqual(Array(4).fill('forbidden'));
    expect(await printed(hub, 'open-shut')).not.toContain('never');
    expect(await hub.client.call('pane:list', {})).toHaveLength(before.length);
    socket.close();
  });

  it('is withdrawn when the caller goes, and an answer then does nothing', async () => {
    const sent = request({
      socketPath: hub.socket,
      method: 'POST',
      path: '/action/pane:write',
      headers: { host: 'poly', authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    });
    sent.on('error', () => undefined);
    sent.end(JSON.stringify({ paneId: 'open-maybe', data: 'never-typed' }));
    const { id } = await waiting(hub);
    sent.destroy();
    const withdrawn = await hub.event('approval:withdrawn', ({ payload }) => payload.id === id);
    expect(withdrawn).toMatchObject({ payload: { reason: 'the caller has gone' }, pane: 'asker' });
    expect(await failure(resolve(hub, id, 'allow'))).toMatchObject({
      code: 'conflict',
      message: `${id} was withdrawn: whoever asked has gone.`,
    });
    expect(await hub.client.call('approval:list', {})).toEqual({ approvals: [] });
    expect(await printed(hub, 'open-maybe')).not.toContain('never');
  });

  it('is withdrawn when the credential it came with is no longer good', async () => {
    const other = hub.as(await hub.paneToken('short-lived'));
    const call = failure(other.call('pane:read', { paneId: 'worker' }));
    await waiting(hub);
    await hub.client.call('pane:close', { paneId: 'short-lived' });
    expect(await call).toMatchObject({
      code: 'forbidden',
      message: expect.stringContaining('short-lived was closed'),
    });
  });

  it('does not reach another pane that has taken the id meanwhile', async () => {
    await hub.client.call('pane:new', { id: 'twice', argv: ['cat'] });
    const call = failure(pane.call('pane:write', { paneId: 'twice', data: 'for the first' }));
    const { id } = await waiting(hub);
    await hub.client.call('pane:close', { paneId: 'twice' });
    await hub.client.call('pane:new', { id: 'twice', argv: ['cat'] });
    await resolve(hub, id, 'allow');
    expect(await call).toMatchObject({ code: 'forbidden', hint: 'Ask again.' });
    expect(await printed(hub, 'twice')).toBe('');
  });

  it('is decided once, however many answer at once', async () => {
    for (let time = 0; time < 5; time++) {
      const call = pane.call('pane:write', { paneId: 'worker', data: 'y' }).then(
        () => 'allow',
        () => 'deny',
      );
      const { id } = await waiting(hub);
      const decisions = ['allow', 'deny', 'allow', 'deny'] as const;
      const answers = await Promise.allSettled(decisions.map((decision) => resolve(hub, id, decision)));
      const taken = decisions.filter((_, index) => answers[index]?.status === 'fulfilled');
      expect(new Set(taken).size).toBe(1);
      expect(taken).toHaveLength(2);
      expect(await call).toBe(taken[0]);
      const [other] = decisions.filter((decision) => decision !== taken[0]);
      expect(await failure(resolve(hub, id, other as 'allow'))).toMatchObject({
        code: 'conflict',
        message: expect.stringMatching(/^apr_\w+ was (allowed|denied) by user:/),
      });
    }
  });

  it('with a key asks once: a repeat waits with it, and later gets its answer', async () => {
    const send = () =>
      pane.call('pane:write', { paneId: 'worker', data: 'once' }, { idempotencyKey: 'only-once' });
    const first = send();
    const { id } = await waiting(hub);
    const second = send();
    await pane.call('pane:list', {});
    expect((await hub.client.call('approval:list', {})).approvals).toHaveLength(1);
    await resolve(hub, id, 'allow');
    expect(await Promise.all([first, second])).toEqual([{ bytes: 4 }, { bytes: 4 }]);
    expect(await send()).toEqual({ bytes: 4 });
  });

  it('with a key is asked for again where nobody decided, and not where somebody did', async () => {
    const asked = { paneId: 'open-maybe', data: 'later' };
    const sent = request({
      socketPath: hub.socket,
      method: 'POST',
      path: '/action/pane:write',
      headers: {
        host: 'poly',
        authorization: `Bearer ${token}`,
        'content-type': 'application/json',
        'idempotency-key': 'undecided',
      },
    });
    sent.on('error', () => undefined);
    sent.end(JSON.stringify(asked));
    const first = await waiting(hub);
    // Both wait for the first, and then one for the other.
    const send = () => pane.call('pane:write', asked, { idempotencyKey: 'undecided' });
    const repeats = [send(), send()];
    sent.destroy();
    await hub.event('approval:withdrawn', ({ payload }) => payload.id === first.id);
    const second = await waiting(hub);
    await resolve(hub, second.id, 'allow');
    expect(await Promise.all([...repeats, send()])).toEqual([{ bytes: 5 }, { bytes: 5 }, { bytes: 5 }]);

    const no = () => failure(pane.call('pane:close', { paneId: 'worker' }, { idempotencyKey: 'decided' }));
    const call = no();
    await resolve(hub, (await waiting(hub)).id, 'deny');
    expect(await no()).toEqual(await call);
    expect(await hub.client.call('approval:list', {})).toEqual({ approvals: [] });
  });

  it('over a WebSocket shows the text of each message, and is withdrawn with the connection', async () => {
    const { url } = hub.discovery;
    const socket = new WebSocket(`${url.replace('http', 'ws')}/ws`, {
      headers: { authorization: `Bearer ${token}` },
    });
    const errors: { message: string }[] = [];
    socket.on('message', (data) => {
      const message = JSON.parse(String(data));
      if (message.type === 'error') errors.push(message);
    });
    await new Promise((opened) => socket.once('open', opened));
    const type = (data: string) => socket.send(JSON.stringify({ type: 'input', sessionId: 'worker', data }));
    type('rm ');
    const first = await waiting(hub);
    expect(first).toMatchObject({ kind: 'write', action: 'pane:write', paneId: 'worker', text: 'rm ' });
    await resolve(hub, first.id, 'deny');
    await until(() => errors.length === 1);
    expect(errors[0]).toMatchObject({ code: 'forbidden', message: expect.stringContaining('denied it') });
    // What was split is asked for again: no part rides on the answer to another.
    type('-rf x\r');
    const second = await waiting(hub);
    expect(second.text).toBe('-rf x\r');
    socket.close();
    await hub.event('approval:withdrawn', ({ payload }) => payload.id === second.id);
    expect(await printed(hub, 'worker')).not.toContain('rm');
  });

  it('over a WebSocket holds up nothing but what comes after it for the same pane', async () => {
    await hub.client.call('pane:new', { id: 'in-order', argv: ['cat'] });
    const { url } = hub.discovery;
    const socket = new WebSocket(`${url.replace('http', 'ws')}/ws`, {
      headers: { authorization: `Bearer ${token}` },
    });
    const heard: { type: string; message: string }[] = [];
    socket.on('message', (data) => heard.push(JSON.parse(String(data))));
    const count = (type: string) => heard.filter((message) => message.type === type).length;
    const send = (message: object) => socket.send(JSON.stringify(message));
    const type = (sessionId: string, data: string) => send({ type: 'input', sessionId, data });
    const questions = async (): Promise<readonly Approval[]> =>
      (await hub.client.call('approval:list', {})).approvals;
    await new Promise((opened) => socket.once('open', opened));
    await until(() => count('session_list') === 1);
    type('in-order', 'first,');
    type('in-order', 'second,');
    send({ type: 'spawn', command: 'sleep', args: ['1000'], title: 'asked for' });
    send({ type: 'subscribe', sessionId: 'open-maybe' });
    type('in-order', 'third\r');
    send({ type: 'resize', sessionId: 'asker', cols: 0, rows: 0 });
    type('asker', 'meanwhile\r');
    send({ type: 'session_list' });
    await until(() => count('session_list') === 2);
    await until(async () => (await printed(hub, 'asker')).includes('meanwhile'));
    expect(count('error')).toBe(1);
    const waited = await until(async () => {
      const now = await questions();
      return now.length === 3 && now;
    });
    expect(waited.map(({ paneId, text, command }) => text ?? command?.[0] ?? paneId)).toEqual([
      'first,',
      'sleep',
      'open-maybe',
    ]);
    for (const { id } of waited.slice(1)) await resolve(hub, id, 'deny');
    await until(() => count('error') === 3);
    for (const text of ['first,', 'second,', 'third\r']) {
      const { id, text: shown } = await waiting(hub);
      expect(shown).toBe(text);
      await resolve(hub, id, 'allow');
    }
    await until(async () => (await printed(hub, 'in-order')).includes('first,second,third'));
    socket.close();
    await hub.client.call('pane:close', { paneId: 'in-order' });
  });

  it('is not for panes to answer or to look at', async () => {
    const call = failure(pane.call('pane:write', { paneId: 'worker', data: 'canary-typed' }));
    const { id } = await waiting(hub);
    const other = hub.as(await hub.paneToken('onlooker'));
    for (const somebody of [pane, other]) {
      for (const [name, params] of [
        ['approval:resolve', { id, decision: 'allow' }],
        ['approval:list', {}],
      ] as const)
        expect(await failure(somebody.call(name as string, params))).toMatchObject({ code: 'forbidden' });
    }
    expect((await hub.client.call('approval:list', {})).approvals).toHaveLength(1);
    await resolve(hub, id, 'deny');
    await call;

    const onlooker = await printed(hub, 'onlooker');
    const { seq } = await hub.client.emit('last', {});
    const seen = { all: [] as string[], asker: [] as string[], onlooker: [] as string[] };
    for (const [who, credential] of [
      ['all', hub.token],
      ['asker', token],
      ['onlooker', onlooker.split('\n')[0] ?? ''],
    ] as const)
      for await (const event of hub.events('*', { since: 0, token: credential })) {
        expect(JSON.stringify(event)).not.toContain('canary');
        if (event.event.startsWith('approval:')) seen[who].push(event.event);
        if (event.seq === seq) break;
      }
    expect(seen.all).toContain('approval:resolved');
    expect(seen.asker).toContain('approval:requested');
    expect(seen.onlooker).toEqual([]);
  });

  it('leaves a trail of who decided what, and nothing of what would have been typed', async () => {
    const call = failure(pane.call('pane:write', { paneId: 'worker', data: 'canary-kept' }));
    const { id } = await waiting(hub);
    await resolve(hub, id, 'deny');
    await call;
    await hub.client.call('server:backup', { file: join(hub.home, 'copy.db') });
    expect(readFileSync(join(hub.home, 'copy.db'), 'latin1')).not.toContain('canary-kept');
    const trail = readFileSync(join(hub.dir, 'logs', 'audit.log'), 'utf8');
    expect(trail).toMatch(new RegExp(`approval:resolve.*user:.*"${id}".*deny`));
    expect(trail).not.toContain('canary');
  });

  it('cannot bury the user in questions', async () => {
    const calls = Array.from({ length: 17 }, () => failure(pane.call('pane:read', { paneId: 'worker' })));
    expect(await Promise.race(calls)).toMatchObject({ code: 'too_many_requests' });
    const approvals = await until(async () => {
      const now = (await hub.client.call('approval:list', {})).approvals;
      return now.length >= 16 && now;
    });
    expect(approvals).toHaveLength(16);
    await Promise.all(approvals.map(({ id }) => resolve(hub, id, 'deny')));
    await Promise.all(calls);
  });

  it('cannot bury the user in questions by way of panes that it starts', async () => {
    const calls: Promise<PolyError>[] = [];
    for (let child = 0; child < 3; child++) {
      const argv = ['sh', '-c', 'echo "$POLY_TOKEN"; exec cat'];
      const { id } = await pane.call('pane:new', { argv });
      const token = await until(async () => (await printed(hub, id)).split('\n')[0] || undefined);
      const one = hub.as(token);
      calls.push(...Array.from({ length: 8 }, () => failure(one.call('pane:read', { paneId: 'worker' }))));
    }
    expect(await Promise.race(calls)).toMatchObject({
      code: 'too_many_requests',
      message: expect.stringMatching(
        /^16 calls of \S+ and the panes of its family wait for the user already\.$/,
      ),
    });
    const stranger = failure(
      hub.as(await hub.paneToken('stranger')).call('pane:close', { paneId: 'worker' }),
    );
    const approvals = await until(async () => {
      const now = (await hub.client.call('approval:list', {})).approvals;
      return now.some((one) => one.pane === 'stranger') && now.length >= 17 && now;
    });
    expect(approvals).toHaveLength(17);
    await Promise.all(approvals.map(({ id }) => resolve(hub, id, 'deny')));
    expect(await stranger).toMatchObject({ code: 'forbidden' });
    await Promise.all(calls);
  });

  it.each([
    ['pane:write', { paneId: 'worker', data: 'x'.repeat(65 * 1024) }],
    ['pane:new', { argv: ['sleep', 'x'.repeat(65 * 1024)] }],
    ['extensions:install', { from: 'x'.repeat(65 * 1024) }],
  ])('is refused where nobody would read all of it: %s', async (name, params) => {
    expect(await failure(pane.call(name as string, params))).toMatchObject({
      code: 'too_large',
      message: expect.stringMatching(
        /is asked for with 6\d{4} bytes, and at most 65536 are shown to the user\.$/,
      ),
      hint: expect.stringContaining('smaller parts'),
    });
    expect(await hub.client.call('approval:list', {})).toEqual({ approvals: [] });
  });

  it.each([
    ['one that never was', { id: 'apr_00000000', decision: 'allow' }, 'not_found'],
    ['no id', { id: '', decision: 'allow' }, 'invalid_arguments'],
    ['a path', { id: '../../x', decision: 'deny' }, 'not_found'],
    ['no decision', { id: 'apr_00000000' }, 'invalid_arguments'],
    ['another decision', { id: 'apr_00000000', decision: 'always' }, 'invalid_arguments'],
  ])('cannot be answered as %s', async (_, params, code) => {
    expect(await failure(hub.client.call('approval:resolve' as string, params))).toMatchObject({ code });
  });
});

const codeVariables = [
  ...['LD_PRELOAD', 'LD_LIBRARY_PATH', 'LD_AUDIT', 'DYLD_INSERT_LIBRARIES', 'GLIBC_TUNABLES', 'GCONV_PATH'],
  ...['PATH', 'HOME', 'ENV', 'BASH_ENV', 'BASH_FUNC_ls%%', 'ZDOTDIR', 'SHELLOPTS', 'PS4', 'XDG_CONFIG_HOME'],
  ...['NODE_OPTIONS', 'NODE_PATH', 'npm_config_script_shell', 'PYTHONSTARTUP', 'PYTHONPATH', 'PERL5OPT'],
  ...['PERL5LIB', 'RUBYOPT', 'JAVA_TOOL_OPTIONS', '_JAVA_OPTIONS', 'GOFLAGS', 'RUSTC_WRAPPER', 'MAKEFLAGS'],
  ...[
    'GIT_SSH_COMMAND',
    'GIT_CONFIG_COUNT',
    'GIT_PAGER',
    'EDITOR',
    'PAGER',
    'SSH_ASKPASS',
    'LESSOPEN',
    'VIMINIT',
  ],
  ...['POLY_NODE', 'POLY_HOME', 'POLY_BIN', 'TAR_OPTIONS', 'RM', 'CC', 'CPP', 'RSYNC_RSH', 'MANOPT'],
];

it('is needed for a program that a rule allows, with variables that make it run other code', async () => {
  await using hub = await TestHub.start({ config: '[permission.spawn]\n"*" = "ask"\n"true*" = "allow"' });
  const pane = hub.as(await hub.paneToken('asker'));
  for (const name of codeVariables) {
    const call = failure(
      pane.call('pane:new', { argv: ['true', 'x'], env: { [name]: `/tmp/x:${hub.env.PATH}` } }),
    );
    const approval = await waiting(hub);
    expect(approval).toMatchObject({
      env: [name],
      reason: `[permission.spawn] "*" = "ask", no rule allows it by name with ${name}, which can make it run other code`,
    });
    await resolve(hub, approval.id, 'deny');
    expect(await call).toMatchObject({
      code: 'forbidden',
      message: expect.stringContaining(`with ${name}: `),
    });
  }
  const harmless = { PATH: hub.env.PATH ?? '', LANG: 'C', COLUMNS: '80', CI: '1', MY_APP: 'x' };
  // Whatever is said of these, the hub sets them itself.
  const ours = { POLY_PANE: 'x', POLY_HOST: 'x', POLY_TOKEN: 'x', POLY_SOCKET: 'x' };
  await expect(pane.call('pane:new', { argv: ['true'], env: ours })).resolves.toMatchObject({});
  await expect(pane.call('pane:new', { argv: ['true'], env: harmless })).resolves.toMatchObject({});
});

it('is not needed, and not had, where everything else is denied or allowed', async () => {
  await using hub = await TestHub.start({ config: '[permission.spawn]\n"*" = "deny"\n"true" = "allow"' });
  const pane = hub.as(await hub.paneToken('asker'));
  await expect(pane.call('pane:new', { argv: ['true'] })).resolves.toMatchObject({});
  for (const action of ['pane:new', 'agent:create'] as const)
    expect(
      await failure(pane.call(action, { argv: ['true'], env: { LD_PRELOAD: '/tmp/x', A: '1' } })),
    ).toMatchObject({
      code: 'forbidden',
      message: 'asker may not start "true" in HOME with LD_PRELOAD: config.toml denies it.'.replace(
        'HOME',
        hub.home,
      ),
    });
  await using open = await TestHub.start({ config: '[permission.spawn]\n"sudo" = "deny"\n"true" = "allow"' });
  const other = open.as(await open.paneToken('asker'));
  // Whoever may start any program needs no variable for it.
  await expect(other.call('pane:new', { argv: ['true'], env: { LD_PRELOAD: '' } })).resolves.toMatchObject(
    {},
  );
});

it('is refused when nobody answers in time', async () => {
  await using hub = await TestHub.start({ config: '[permission]\ntimeout = "200ms"' });
  const pane = hub.as(await hub.paneToken('asker'));
  const call = failure(pane.call('pane:close', { paneId: 'worker' }));
  const { payload } = await hub.event('approval:expired');
  expect(await call).toMatchObject({
    code: 'forbidden',
    message: 'asker may not touch the pane worker: nobody answered within 0.2 seconds.',
    hint: expect.stringContaining('poly approvals ls'),
  });
  expect(await failure(resolve(hub, String(payload.id), 'allow'))).toMatchObject({
    code: 'conflict',
    message: expect.stringContaining('has expired'),
  });
});

it('is refused at once where nobody is to be asked', async () => {
  await using hub = await TestHub.start({ config: '[permission]\ntimeout = "0s"' });
  const pane = hub.as(await hub.paneToken('asker'));
  for (const [name, params] of [
    ['pane:close', { paneId: 'worker' }],
    ['extensions:remove', { name: 'x' }],
  ] as const)
    expect(await failure(pane.call(name as string, params))).toMatchObject({
      code: 'forbidden',
      message: expect.stringMatching(/that must be asked for, and config\.toml lets nobody be asked\.$/),
      hint: expect.stringContaining('The user decides'),
    });
  await expect(pane.call('pane:new', { argv: ['true'] })).resolves.toMatchObject({ backend: 'pty' });
});

it('denies everything to panes when config.toml cannot be read, and says so', async () => {
  await using hub = await TestHub.start({ config: '[permission.write]\n"*" = "alow"' });
  const pane = hub.as(await hub.paneToken('asker'));
  await hub.client.call('pane:new', { id: 'worker', argv: ['cat'] });
  for (const [name, params] of [
    ['pane:new', { argv: ['true'] }],
    ['agent:create', { argv: ['true'] }],
    ['pane:write', { paneId: 'worker', data: 'x' }],
    ['pane:close', { paneId: 'worker' }],
    ['extensions:install', { from: '/tmp' }],
  ] as const)
    expect(await failure(pane.call(name as string, params))).toMatchObject({ code: 'forbidden' });
  await expect(pane.call('pane:write', { paneId: 'asker', data: 'x' })).resolves.toEqual({ bytes: 1 });
  const { problems, approvals } = await hub.client.call('server:status', {});
  expect([problems, approvals]).toEqual([[expect.stringContaining('config.toml')], 0]);
});

it('goes by a config.toml that is a link, where nobody else can change what it leads to', async () => {
  await using hub = await TestHub.start();
  const pane = hub.as(await hub.paneToken('asker'));
  const folder = join(hub.home, 'dotfiles');
  const file = join(folder, 'poly.toml');
  mkdirSync(folder);
  chmodSync(folder, 0o755);
  writeFileSync(file, '[permission.spawn]\n"sleep" = "deny"');
  chmodSync(file, 0o644);
  symlinkSync(file, join(folder, 'link'));
  symlinkSync(join(folder, 'link'), join(hub.dir, 'config.toml'));
  const spawns = async (): Promise<[string, readonly string[]]> => {
    await hub.kill('SIGTERM');
    await hub.start();
    const codes = ['true', 'sleep'].map((program) =>
      pane.call('pane:new', { argv: [program, '0'] }).then(
        () => 'started',
        ({ code }: PolyError) => code,
      ),
    );
    return [(await Promise.all(codes)).join(), (await hub.client.call('server:status', {})).problems];
  };
  expect(await spawns()).toEqual(['started,forbidden', []]);
  for (const [path, mode] of [
    [file, 0o664],
    [file, 0o646],
    [folder, 0o777],
  ] as const) {
    chmodSync(path, mode);
    expect(await spawns()).toEqual([
      'forbidden,forbidden',
      [expect.stringContaining(`${path} can be changed by others (mode ${mode.toString(8)})`)],
    ]);
    expect((await hub.client.call('server:status', {})).problems[0]).toContain(`chmod go-w ${path}`);
    chmodSync(path, path === file ? 0o644 : 0o755);
  }
  rmSync(file);
  expect(await spawns()).toEqual(['forbidden,forbidden', [expect.stringContaining('no such file')]]);
  rmSync(join(hub.dir, 'config.toml'));
  expect(await spawns()).toEqual(['started,started', []]);
}, 60_000);

it('is withdrawn, never answered, when the hub is killed while it waits', async () => {
  await using hub = await TestHub.start();
  const pane = hub.as(await hub.paneToken('asker'));
  await hub.client.call('pane:new', { id: 'worker', argv: ['cat'] });
  const call = failure(pane.call('pane:write', { paneId: 'worker', data: 'never-typed', enter: true }));
  const { id } = await waiting(hub);
  await hub.kill('SIGKILL');
  await call;
  await hub.start();
  const { payload } = await hub.event('approval:withdrawn');
  expect(payload).toEqual({ id, reason: 'the hub ended while it waited' });
  expect(await hub.client.call('approval:list', {})).toEqual({ approvals: [] });
  expect(await failure(resolve(hub, id, 'allow'))).toMatchObject({ code: 'conflict' });
  await hub.client.call('pane:write', { paneId: 'worker', data: 'end', enter: true });
  const text = await until(async () => {
    const now = await printed(hub, 'worker');
    return now.includes('end') && now;
  });
  expect(text).not.toContain('never-typed');
});

it.each(['SIGKILL', 'SIGTERM'] as const)(
  'with a key is asked for again after a %s of the hub',
  async (end) => {
    await using hub = await TestHub.start({ config: '[permission.spawn]\n"sleep*" = "ask"' });
    const pane = hub.as(await hub.paneToken('asker'));
    await hub.client.call('pane:new', { id: 'worker', argv: ['cat'] });
    const write = () => pane.call('pane:write', { paneId: 'worker', data: 'x' }, { idempotencyKey: 'write' });
    const spawn = () =>
      pane.call('pane:new', { id: 'made', argv: ['sleep', '9'] }, { idempotencyKey: 'spawn' });
    const calls = [failure(write()), failure(spawn())];
    await until(async () => (await hub.client.call('approval:list', {})).approvals.length === 2);
    await hub.kill(end);
    await Promise.all(calls);
    await hub.start();
    for (const [call, answer] of [
      [write, { bytes: 1 }],
      [spawn, { id: 'made' }],
    ] as const) {
      const again = call();
      await resolve(hub, (await waiting(hub)).id, 'allow');
      expect(await again).toMatchObject(answer);
      expect(await call()).toMatchObject(answer);
    }
  },
);

it('is let go when the hub stops', async () => {
  await using hub = await TestHub.start();
  const pane = hub.as(await hub.paneToken('asker'));
  const call = failure(pane.call('pane:read', { paneId: 'worker' }));
  await waiting(hub);
  await hub.client.call('server:stop', {});
  expect(await call).toMatchObject({
    code: 'forbidden',
    message: expect.stringContaining('the hub is stopping'),
  });
  expect(await hub.ended()).toBe(0);
  await hub.start();
});
