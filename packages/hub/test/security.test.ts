import { readdirSync, statSync } from 'node:fs';
import { request } from 'node:http';
import { connect } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TestHub, until } from './test-hub.ts';

let hub: TestHub;
let port: number;

beforeAll(async () => {
  hub = await TestHub.start({ config: '[permission]\ntimeout = "0s"' });
  port = Number(new URL(hub.discovery.url).port);
});
afterAll(() => hub[Symbol.asyncDispose]());

/** Sends bytes as they are to the TCP door; answers the status. */
function raw(text: string): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  const socket = connect(port, '127.0.0.1', () => socket.write(text));
  let answer = '';
  socket.on('data', (chunk) => {
    answer += chunk;
    if (answer.includes('\r\n\r\n')) socket.end();
  });
  socket.on('close', () => resolve(Number(answer.split(' ')[1] ?? 0)));
  socket.on('error', reject);
  return promise;
}

const get = (path: string, headers: readonly string[]): Promise<number> =>
  raw([`GET ${path} HTTP/1.1`, ...headers, '', ''].join('\r\n'));
const bearer = (): string => `Authorization: Bearer ${hub.token}`;

interface Sent {
  readonly method?: string;
  readonly path?: string;
  readonly token?: string | null;
  readonly headers?: Record<string, string>;
  readonly body?: string | Buffer;
}

/** One request over TCP with everything right but what the test says. */
function send({
  method = 'POST',
  path = '/action/pane:list',
  token = hub.token,
  headers = {},
  body = '{}',
}: Sent) {
  const { promise, resolve, reject } = Promise.withResolvers<{
    status: number;
    error?: { code: string; message: string; hint?: string };
  }>();
  const sent = request(
    {
      port,
      host: '127.0.0.1',
      method,
      path,
      headers: {
        ...(token !== null && { authorization: `Bearer ${token}` }),
        'content-type': 'application/json',
        ...headers,
      },
    },
    async (response) => {
      let text = '';
      for await (const chunk of response.setEncoding('utf8')) text += chunk;
      resolve({ status: response.statusCode ?? 0, ...(text !== '' && JSON.parse(text)) });
    },
  );
  sent.on('error', reject);
  sent.end(method === 'GET' ? undefined : body);
  return promise;
}

describe('the gate', () => {
  it.each([
    ['another host', ['Host: evil.com']],
    ['a name that begins like ours', ['Host: 127.evil.com']],
    ['a name that holds ours', ['Host: localhost.evil']],
    ['a trailing dot', ['Host: localhost.:PORT']],
    ['user info', ['Host: localhost:PORT@evil.com']],
    ['all interfaces', ['Host: 0.0.0.0:PORT']],
    ['a decimal address', ['Host: 2130706433:PORT']],
    ['an octal address', ['Host: 0177.0.0.1:PORT']],
    ['another port', ['Host: 127.0.0.1:1']],
    ['no port', ['Host: 127.0.0.1']],
    ['two hosts', ['Host: 127.0.0.1:PORT', 'Host: evil.com']],
    ['no host', []],
    ['an empty host', ['Host:']],
    ['another origin', ['Host: 127.0.0.1:PORT', 'Origin: http://evil.com']],
    ['a null origin', ['Host: 127.0.0.1:PORT', 'Origin: null']],
    ['an origin on another port', ['Host: 127.0.0.1:PORT', 'Origin: http://127.0.0.1:3000']],
    ['an origin of another scheme', ['Host: 127.0.0.1:PORT', 'Origin: https://127.0.0.1:PORT']],
    ['a cross-site fetch', ['Host: 127.0.0.1:PORT', 'Sec-Fetch-Site: cross-site']],
  ])('refuses %s, with a good credential and before any route', async (_, lines) => {
    const headers = lines.map((line) => line.replaceAll('PORT', String(port)));
    for (const path of ['/health', '/actions', '/events?include=*', '/nowhere']) {
      expect(await get(path, [...headers, bearer()])).toBeOneOf([400, 403]);
    }
  });

  it('lets ourselves in', async () => {
    for (const host of ['127.0.0.1', 'localhost', '[::1]']) {
      expect(await get('/actions', [`Host: ${host}:${port}`, bearer()])).toBe(200);
    }
    const origin = `http://127.0.0.1:${port}`;
    expect(await get('/actions', [`Host: 127.0.0.1:${port}`, `Origin: ${origin}`, bearer()])).toBe(200);
  });

  it('stands before WebSockets too', async () => {
    const upgrade = [
      'Upgrade: websocket',
      'Connection: Upgrade',
      'Sec-WebSocket-Version: 13',
      'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
    ];
    const good = `Host: 127.0.0.1:${port}`;
    expect(await get('/ws', [good, ...upgrade, bearer()])).toBe(101);
    expect(await get('/ws', [good, ...upgrade])).toBe(401);
    expect(await get('/ws', ['Host: evil.com', ...upgrade, bearer()])).toBe(403);
    expect(await get('/ws', [good, 'Origin: http://evil.com', ...upgrade, bearer()])).toBe(403);
    expect(await get('/other', [good, ...upgrade, bearer()])).toBe(404);
  });

  it('keeps no connection of somebody who is refused a WebSocket and stays', async () => {
    const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
    const gone = new Promise((resolve) => socket.resume().once('close', resolve));
    // Whoever writes into a connection that is gone is told so.
    const knocking = setInterval(() => socket.write('x'), 100);
    socket.on('error', () => undefined);
    socket.write(
      `GET /ws HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\n`,
    );
    await gone;
    clearInterval(knocking);
  });
});

describe('requests that are not right', () => {
  it.each([
    ['no credential', 401, 'unauthenticated', { token: null }],
    ['a wrong credential', 401, 'unauthenticated', { token: 'x'.repeat(43) }],
    ['an unknown route', 404, 'unknown_route', { path: '/nowhere' }],
    ['an unknown action', 404, 'unknown_action', { path: '/action/pane:nope' }],
    ['another method', 405, 'method_not_allowed', { method: 'PUT' }],
    ['no JSON type', 415, 'unsupported_media_type', { headers: { 'content-type': 'text/plain' } }],
    [
      'a form',
      415,
      'unsupported_media_type',
      { headers: { 'content-type': 'application/x-www-form-urlencoded' }, body: 'a=1' },
    ],
    ['broken JSON', 400, 'invalid_request', { body: '{' }],
    ['invalid UTF-8', 400, 'invalid_request', { body: Buffer.from([0x22, 0xff, 0x22]) }],
    ['a deep body', 400, 'invalid_request', { body: '['.repeat(65) + ']'.repeat(65) }],
    ['a large body', 413, 'too_large', { body: `{"a":"${'x'.repeat(1024 * 1024)}"}` }],
    ['a list', 400, 'invalid_arguments', { body: '[]' }],
    ['an unknown field', 400, 'invalid_arguments', { body: '{"a":1}' }],
    ['a wrong type', 400, 'invalid_arguments', { path: '/action/pane:new', body: '{"argv":"ls"}' }],
    [
      'a NUL in an argument',
      400,
      'invalid_arguments',
      { path: '/action/pane:new', body: '{"argv":["a\\u0000b"]}' },
    ],
    ['no pane', 404, 'not_found', { path: '/action/pane:read', body: '{"paneId":"none"}' }],
    [
      'a path as a pane',
      400,
      'invalid_arguments',
      { path: '/action/pane:read', body: '{"paneId":"../../x"}' },
    ],
    ['a hub event', 400, 'invalid_arguments', { path: '/emit/pane:created' }],
    ['an encoding that is none', 400, 'invalid_request', { path: '/action/%zz' }],
    ['a pane that is not ours to claim', 403, 'forbidden', { headers: { 'x-poly-pane': 'pty_00000000' } }],
  ] satisfies [string, number, string, Sent][])('%s: %i %s', async (_, status, code, sent: Sent) => {
    const before = await hub.client.call('pane:list', {});
    const answer = await send(sent);
    expect([answer.status, answer.error?.code]).toEqual([status, code]);
    expect(answer.error?.message).toMatch(/./);
    expect(await hub.client.call('pane:list', {})).toEqual(before);
  });

  it('leave a connection usable after a body that was too large', async () => {
    const answers = await Promise.all([send({ body: 'x'.repeat(8 * 1024 * 1024) }), send({}), send({})]);
    expect(answers.map(({ status }) => status)).toEqual([413, 200, 200]);
  });
});

describe('answers', () => {
  it('tell nothing but liveness to those without a credential', async () => {
    const { status, body, headers } = await hub.send({ method: 'GET', path: '/health', headers: {} });
    expect([status, JSON.parse(body)]).toEqual([200, { status: 'ok' }]);
    expect(headers).toMatchObject({
      'x-content-type-options': 'nosniff',
      'cross-origin-resource-policy': 'same-origin',
      'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
      'cache-control': 'no-store',
    });
    expect(Object.keys(headers).filter((name) => name.startsWith('access-control'))).toEqual([]);
  });

  it('describe every route and action', async () => {
    const document = (await hub.client.get('/openapi.json')) as {
      openapi: string;
      paths: Record<string, object>;
    };
    expect(document.openapi).toBe('3.1.0');
    for (const path of ['/ws', '/projects/{project}/ws', '/projects/{project}/sessions/{session}/ws'])
      expect(document.paths).toHaveProperty([path, 'get', 'responses', '101']);
    const plain = hub.client.get('/ws');
    await expect(plain).rejects.toMatchObject({ message: '/ws is opened as a WebSocket, by an upgrade.' });
    const key = { $ref: '#/components/parameters/IdempotencyKey' };
    for (const [path, method] of [
      ['/emit/{event}', 'post'],
      ['/api/sessions', 'post'],
      ['/api/sessions/{id}', 'delete'],
      ['/projects/{project}/rename', 'post'],
      ['/projects/{project}/sessions/{session}/inject', 'post'],
    ] as const)
      expect(document.paths).toHaveProperty([path, method, 'parameters'], expect.arrayContaining([key]));
    const actions = (await hub.client.get('/actions')) as { name: string; scope: string; effect: string }[];
    for (const { name, scope, effect } of actions) {
      expect(document.paths).toHaveProperty([`/action/${name}`, 'post']);
      expect([scope, effect]).toEqual([
        expect.stringMatching(/^[a-z]+:[a-z]+$/),
        expect.stringMatching(/^(read|write|destructive)$/),
      ]);
    }
  });
});

describe('a pane’s credential', () => {
  it('hears that others end, but not what they printed', async () => {
    const own = await hub.client.call('pane:new', { argv: ['sh', '-c', 'echo "$POLY_TOKEN"; exec cat'] });
    const token = await until(async () => {
      const { lines = [] } = await hub.client.call('pane:read', { paneId: own.id });
      return lines[0]?.text;
    });
    const argv = ['sh', '-c', 'echo my pin is 1234'];
    const stranger = await hub.client.call('pane:new', { argv, notifyOnExit: true });
    const child = await hub.as(token).call('pane:new', { argv, notifyOnExit: true });
    const live = hub.events('pane:exited', { token });
    const first = live.next();
    await hub.client.call('pane:close', {
      paneId: (await hub.client.call('pane:new', { argv: ['cat'], notifyOnExit: true })).id,
    });
    const heard = new Map<string, object>([]);
    for await (const { payload } of hub.events('pane:exited', { since: 0, token })) {
      const told = payload as { readonly paneId: string };
      heard.set(told.paneId, told);
      if (heard.has(stranger.id) && heard.has(child.id)) break;
    }
    expect(heard.get(stranger.id)).not.toHaveProperty('notice');
    expect(heard.get(child.id)).toHaveProperty('notice');
    expect((await first).value?.payload).not.toHaveProperty('notice', expect.stringContaining('cat'));
    await live.return(undefined);
    await hub.client.call('pane:close', { paneId: own.id });
  });

  it('opens its own pane and those it made, and nothing else', async () => {
    const stranger = await hub.client.call('pane:new', { argv: ['cat'] });
    const own = await hub.client.call('pane:new', { argv: ['sh', '-c', 'echo "$POLY_TOKEN"; exec cat'] });
    const token = await until(async () => {
      const { lines = [] } = await hub.client.call('pane:read', { paneId: own.id });
      return lines[0]?.text;
    });
    const pane = hub.as(token);
    await expect(pane.call('pane:write', { paneId: own.id, data: 'x' })).resolves.toEqual({ bytes: 1 });
    const made = await pane.call('pane:new', { argv: ['cat'] });
    await expect(pane.call('pane:set-meta', { paneId: made.id, key: 'a', value: 1 })).resolves.toMatchObject({
      changed: true,
    });
    for (const [name, params] of [
      ['pane:write', { paneId: stranger.id, data: 'x' }],
      ['pane:read', { paneId: stranger.id }],
      ['pane:screen', { paneId: stranger.id }],
      ['pane:close', { paneId: stranger.id }],
      ['pane:keys', { paneId: stranger.id, keys: ['x'] }],
      ['pane:set-meta', { paneId: stranger.id, key: 'a', value: 1 }],
      ['pane:close', { paneId: 'nobody' }],
      ['shell:run', { command: 'true' }],
      ['session:stop', {}],
      ['server:stop', {}],
      ['server:backup', {}],
      ['extensions:install', { from: '/tmp' }],
    ] as const) {
      await expect(pane.call(name, params), name).rejects.toMatchObject({ code: 'forbidden' });
    }
    const created = await hub.event('pane:created', ({ payload }) => payload.paneId === made.id);
    expect([created.source, created.pane]).toEqual([`agent:${own.id}`, own.id]);

    await hub.client.call('pane:close', { paneId: own.id });
    await expect(pane.call('pane:list', {})).rejects.toMatchObject({ code: 'unauthenticated' });
  });

  it('writes a backup to the whole path of a file, and nowhere else', async () => {
    for (const file of ['copy.db', '--', './copy.db', '../copy.db'])
      await expect(hub.client.call('server:backup', { file })).rejects.toMatchObject({
        code: 'invalid_arguments',
        message: `"${file}" must be the whole path of a file.`,
      });
  });

  it('does not show what others do with which parameters', async () => {
    const { id } = await hub.client.call('pane:new', { argv: ['sh', '-c', 'echo "$POLY_TOKEN"; exec cat'] });
    const token = await until(
      async () => (await hub.client.call('pane:read', { paneId: id })).lines?.[0]?.text,
    );
    const { seq } = await hub.client.emit('last', {});
    for await (const event of hub.events('*', { since: 0, token })) {
      expect(event.event).not.toMatch(/^action:/);
      if (event.seq === seq) break;
    }
  });
});

describe('tickets', () => {
  it('open one stream once', async () => {
    const { ticket } = await ask('/tickets', { kind: 'events' });
    const open = (path: string) => get(`${path}ticket=${ticket}`, [`Host: 127.0.0.1:${port}`]);
    expect(await open('/openapi.json?')).toBe(401);
    expect(await open('/events?include=*&')).toBe(200);
    expect(await open('/events?include=*&')).toBe(401);
  });

  it('run no action', async () => {
    const { ticket } = await ask('/tickets', { kind: 'events' });
    expect(await send({ token: null, path: `/action/pane:list?ticket=${ticket}` })).toMatchObject({
      status: 401,
    });
  });

  it('of a pane end with it', async () => {
    const { id } = await hub.client.call('pane:new', { argv: ['sh', '-c', 'echo "$POLY_TOKEN"; exec cat'] });
    const token = await until(
      async () => (await hub.client.call('pane:read', { paneId: id })).lines?.[0]?.text,
    );
    const { ticket } = await ask('/tickets', { kind: 'events' }, token);
    await hub.client.call('pane:close', { paneId: id });
    expect(await get(`/events?include=*&ticket=${ticket}`, [`Host: 127.0.0.1:${port}`])).toBe(401);
  });

  async function ask(path: string, body: object, token = hub.token): Promise<{ ticket: string }> {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
    return JSON.parse((await hub.send({ method: 'POST', path, body: JSON.stringify(body), headers })).body);
  }
});

it('does not let a pane inherit what another of its name had made', async () => {
  const token = async (paneId: string): Promise<string> =>
    until(async () => (await hub.client.call('pane:read', { paneId })).lines?.[0]?.text);
  const argv = ['sh', '-c', 'echo "$POLY_TOKEN"; exec cat'];
  await hub.client.call('pane:new', { id: 'boss', argv });
  await hub.as(await token('boss')).call('pane:new', { id: 'worker', argv: ['cat'] });
  await hub.client.call('pane:close', { paneId: 'boss' });
  await hub.client.call('pane:new', { id: 'boss', argv });
  const heir = hub.as(await token('boss'));
  await expect(heir.call('pane:write', { paneId: 'worker', data: 'x' })).rejects.toMatchObject({
    code: 'forbidden',
  });
  expect((await heir.call('pane:list', {})).map(({ id }) => id)).toEqual(['boss']);
  await expect(heir.call('pane:get-meta', { paneId: 'worker' })).rejects.toMatchObject({ code: 'forbidden' });
});

it('keeps everything to the user alone, whatever the umask', async () => {
  const walk = (path: string): readonly string[] =>
    readdirSync(path, { withFileTypes: true }).flatMap((entry) => {
      const child = join(path, entry.name);
      return [child, ...(entry.isDirectory() ? walk(child) : [])];
    });
  const open = walk(hub.dir).filter((path) => (statSync(path).mode & 0o077) !== 0);
  expect(open).toEqual([]);
});

it('redacts what is typed and the environment given', async () => {
  const { id } = await hub.client.call('pane:new', { argv: ['cat'], env: { SECRET: 'canary-1' } });
  await hub.client.call('pane:write', { paneId: id, data: 'canary-2' });
  await hub.client.call('pane:keys', { paneId: id, keys: ['F5'] });
  const { seq } = await hub.client.emit('last', {});
  for await (const event of hub.events('*', { since: 0 })) {
    expect(JSON.stringify(event)).not.toMatch(/canary|F5/);
    if (event.seq === seq) break;
  }
});

it('refuses to listen where others could reach it', async () => {
  for (const hostname of ['0.0.0.0', '::', '192.168.1.1']) {
    await expect(TestHub.start({ env: { POLY_HOSTNAME: hostname } })).rejects.toThrow(/does not listen on/);
  }
  await expect(TestHub.start({ env: { PTY_WEB_HOSTNAME: '::' } })).rejects.toThrow(/does not listen on/);
});

it('listens where opencode-pty was told to, unless it was told otherwise itself', async () => {
  const start = (env: Record<string, string>) => TestHub.start({ env });
  await using asBefore = await start({ PTY_WEB_HOSTNAME: 'localhost' });
  expect(asBefore.discovery.url).toMatch(/^http:\/\/localhost:/);
  await using own = await start({ PTY_WEB_HOSTNAME: 'localhost', POLY_HOSTNAME: '127.0.0.1' });
  expect(own.discovery.url).toMatch(/^http:\/\/127\.0\.0\.1:/);
});

it('ends the streams of a pane with its credential', async () => {
  const { id } = await hub.client.call('pane:new', { argv: ['sh', '-c', 'echo "$POLY_TOKEN"; exec cat'] });
  const token = await until(
    async () => (await hub.client.call('pane:read', { paneId: id })).lines?.[0]?.text,
  );
  const events = hub.events('*', { token });
  const first = events.next();
  await until(async () => (await hub.client.call('server:status', {})).gauges.eventReaders === 1);
  await hub.client.call('pane:close', { paneId: id });
  await first;
  for await (const _ of events); // Ends, because the hub ends it.
});
