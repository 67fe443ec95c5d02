import { readFileSync } from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TestHub, until } from './test-hub.ts';

/** One route and method, as the hub tells of itself. */
interface Told {
  readonly path: string;
  readonly method: string;
  readonly takesBody: boolean;
  /** Whether it asks for a credential. */
  readonly guarded: boolean;
}

interface Answer {
  readonly status: number;
  readonly body: string;
}

let hub: TestHub;
let port: number;
let routes: readonly Told[];

beforeAll(async () => {
  hub = await TestHub.start({ config: '[permission]\ntimeout = "0s"' });
  port = Number(new URL(hub.discovery.url).port);
  await hub.client.call('pane:new', { id: 'bystander', argv: ['cat'], backend: 'pty' });
  const { paths } = (await hub.client.get('/openapi.json')) as {
    readonly paths: Record<string, Record<string, { readonly requestBody?: object; readonly security?: [] }>>;
  };
  routes = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { requestBody, security }]) => ({
      path: path.replace('{id}', 'bystander').replace(/\{\w+\}/, 'something'),
      method: method.toUpperCase(),
      takesBody: requestBody !== undefined,
      guarded: security === undefined && path !== '/health',
    })),
  );
});
afterAll(() => hub[Symbol.asyncDispose]());

/** One request over TCP with everything right but what the test says. */
function send(
  { path, method, takesBody }: Told,
  { headers = {}, body = '{}' }: { headers?: Record<string, string | undefined>; body?: string } = {},
): Promise<Answer> {
  const { promise, resolve, reject } = Promise.withResolvers<Answer>();
  const given = { authorization: `Bearer ${hub.token}`, 'content-type': 'application/json', ...headers };
  const kept = Object.entries(given).filter((entry): entry is [string, string] => entry[1] !== undefined);
  const sent = request(
    { port, host: '127.0.0.1', method, path, headers: Object.fromEntries(kept), agent: false },
    (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
      response.once('end', () => resolve({ status: response.statusCode ?? 0, body: text }));
    },
  );
  sent.once('error', reject);
  sent.end(takesBody ? body : undefined);
  return promise;
}

/** What nothing that is refused may change. */
const state = async (): Promise<unknown> => [
  await hub.client.call('pane:list', {}),
  await hub.client.call('extensions:list', {}),
  await hub.client.call('session:status', {}),
];

describe('every route', () => {
  it.each([
    ['another host', [403], () => true, { headers: { host: 'evil.com' } }],
    ['another origin', [403], () => true, { headers: { origin: 'http://evil.com' } }],
    ['a cross-site fetch', [403], () => true, { headers: { 'sec-fetch-site': 'cross-site' } }],
    ['no credential', [401], ({ guarded }) => guarded, { headers: { authorization: undefined } }],
    ['another type', [415], ({ takesBody }) => takesBody, { headers: { 'content-type': 'text/plain' } }],
    ['a large body', [413], ({ takesBody }) => takesBody, { body: `"${'x'.repeat(1024 * 1024)}"` }],
    ['a deep body', [400], ({ takesBody }) => takesBody, { body: '['.repeat(65) + ']'.repeat(65) }],
    ['broken JSON', [400], ({ takesBody }) => takesBody, { body: '{' }],
    [
      'an unknown field',
      [400],
      // An event takes what it is given, and MCP has a protocol of its own.
      ({ path, takesBody }) => takesBody && !/^\/(emit\/|mcp$)/.test(path),
      { body: '{"nobody-knows-this":1}' },
    ],
  ] satisfies [string, number[], (route: Told) => boolean, Parameters<typeof send>[1]][])(
    'refuses %s with %j, and nothing has happened',
    async (_, statuses, concerned, wrong) => {
      const before = await state();
      const asked = routes.filter(concerned);
      expect(asked.length).toBeGreaterThan(5);
      for (const route of asked) {
        const { status, body } = await send(route, wrong);
        expect([route.method, route.path, status]).toEqual([
          route.method,
          route.path,
          expect.toBeOneOf(statuses),
        ]);
        if (route.path !== '/mcp') expect(JSON.parse(body).error.message).toMatch(/./);
      }
      expect(await state()).toEqual(before);
    },
  );

  it('refuses a method it does not have', async () => {
    for (const route of routes) {
      const { status } = await send({ ...route, method: 'PATCH' });
      expect([route.path, status]).toEqual([route.path, 405]);
    }
    const health = { path: '/health', method: 'POST', takesBody: true, guarded: false };
    expect(await send(health, { headers: { authorization: undefined } })).toMatchObject({ status: 401 });
  });

  it('that is about a pane is closed to the credential of another', async () => {
    const stranger = hub.as(await hub.paneToken('stranger'));
    const actions = (await hub.client.get('/actions')) as readonly {
      readonly name: string;
      readonly params: Schema;
    }[];
    const before = await hub.client.call('pane:list', {});
    const aboutPanes = actions.filter(({ params }) => params.properties?.paneId);
    expect(aboutPanes.length).toBeGreaterThan(15);
    for (const { name, params: schema } of aboutPanes) {
      const params = { ...(sample(schema) as object), ...alsoNeeded[name], paneId: 'bystander' };
      await expect(stranger.call(name as 'pane:close', params as never), name).rejects.toMatchObject({
        code: 'forbidden',
      });
    }
    expect(await hub.client.call('pane:list', {})).toEqual(before);
  });
});

interface Schema {
  readonly type?: string;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly Schema[];
  readonly items?: Schema;
  readonly minimum?: number;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
}

/** What an action needs beyond what its schema can say. */
const alsoNeeded: Readonly<Record<string, object>> = { 'pane:wait': { exit: true } };

/** The least that a schema takes. */
function sample({
  type,
  enum: choices,
  anyOf,
  items,
  minimum,
  properties = {},
  required = [],
}: Schema): unknown {
  if (choices) return choices[0];
  if (anyOf?.[0]) return sample(anyOf[0]);
  if (type === 'object')
    return Object.fromEntries(required.map((name) => [name, sample(properties[name] ?? {})]));
  if (type === 'array') return [sample(items ?? {})];
  if (type === 'integer' || type === 'number') return Math.max(minimum ?? 0, 1);
  return type === 'boolean' ? true : 'x';
}

describe('who comes in', () => {
  const trail = (at: TestHub): readonly Record<string, unknown>[] =>
    readFileSync(join(at.dir, 'logs', 'audit.log'), 'utf8')
      .split('\n')
      .flatMap((line) => (line === '' ? [] : [JSON.parse(line)]));

  it('is written down, with what is started, ended and changed, and no secret', async () => {
    await using at = await TestHub.start();
    const wrong = 'w'.repeat(43);
    await expect(at.as(wrong).call('pane:list', {})).rejects.toMatchObject({ code: 'unauthenticated' });
    const knock = (path: string, headers: Record<string, string>, body?: string) =>
      at.send({ method: body ? 'POST' : 'GET', path, headers, ...(body && { body }) });
    await knock('/health', { host: 'evil.example' });
    await knock('/actions', { origin: 'http://evil.example', authorization: `Bearer ${at.token}` });
    await knock('/tickets/exchange', { 'content-type': 'application/json' }, '{"ticket":"canary-3"}');
    const env = { CANARY: 'canary-1' };
    await at.client.call('pane:new', { id: 'watched', argv: ['cat'], env });
    await at.client.call('pane:write', { paneId: 'watched', data: 'canary-2' });
    await at.client.call('pane:close', { paneId: 'watched' });
    const { ticket } = await at.client.call('person:invite', { name: 'ada' });
    await at.client.call('floor:agent-add', { name: 'dean' });
    await at.client.call('floor:agent-secret', { name: 'dean', variable: 'KEY', value: 'canary-4' });
    await expect(at.client.call('agent:resume', { paneId: 'watched' })).rejects.toThrow();
    await expect(at.client.call('extensions:install', { from: '/nowhere' })).rejects.toThrow();
    const lines = await until(() => {
      const found = trail(at);
      return found.some(({ message }) => message === 'extensions:install') && found;
    });
    const by = expect.stringMatching(/^user:/);
    for (const line of [
      { message: 'a credential was refused', door: 'socket', path: '/action/pane%3Alist' },
      { message: 'a credential was refused', path: '/health', why: expect.stringContaining('evil.example') },
      { message: 'a credential was refused', path: '/actions', why: expect.stringContaining('evil.example') },
      { message: 'a credential was refused', path: '/tickets/exchange' },
      { message: 'a credential was taken', door: 'socket', by },
      { message: 'pane:created', paneId: 'watched', by },
      { message: 'pane:exited', paneId: 'watched', exitSignal: expect.stringMatching(/^SIG/) },
      { message: 'person:invite', ok: true, by },
      { message: 'floor:agent-add', ok: true, by },
      { message: 'floor:agent-secret', ok: true, by },
      { message: 'agent:resume', ok: false, by },
      { message: 'pane:new', ok: true, by },
      { message: 'pane:close', ok: true, by, params: { paneId: 'watched' } },
      { message: 'extensions:install', ok: false, by },
    ])
      expect(lines).toContainEqual(expect.objectContaining(line));
    expect(JSON.stringify(lines)).not.toMatch(new RegExp(`canary-|${wrong}|${at.token}`));
    expect(JSON.stringify(lines)).not.toContain(ticket);
  });

  it('cannot wash away what is written down by knocking, and is counted', async () => {
    await using at = await TestHub.start();
    const knock = () => at.send({ method: 'GET', path: '/actions', headers: {} });
    for (let n = 0; n < 50; n++) await Promise.all([knock(), knock()]);
    for (let n = 0; n < 20; n++) await at.client.call('pane:list', {});
    await at.client.call('server:stop', {});
    await at.ended();
    const lines = trail(at);
    const count = (message: string) => lines.filter((line) => line.message === message).length;
    expect([count('a credential was refused'), count('a credential was taken')]).toEqual([20, 1]);
    expect(lines).toContainEqual(expect.objectContaining({ message: 'more was refused', count: 80 }));
  });

  it('cannot guess for long, and keeps nobody out who knows', async () => {
    await using at = await TestHub.start();
    const guess = () =>
      at
        .as('g'.repeat(43))
        .call('pane:list', {})
        .catch(({ code }: { readonly code: string }) => code);
    const codes: unknown[] = [];
    for (let n = 0; n < 25; n++) codes.push(await guess());
    expect(codes).toEqual([...Array(20).fill('unauthenticated'), ...Array(5).fill('too_many_requests')]);
    expect(await at.client.call('pane:list', {})).toEqual([]);
  });
});
