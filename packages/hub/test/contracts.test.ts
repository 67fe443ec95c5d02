import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PolyError, type PolyEvent } from '@polyphony/protocol';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { register, type TestAgent } from './mail-ground.ts';
import { byStdio, use } from './mcp-clients.ts';
import { TestHub, until } from './test-hub.ts';

let hub: TestHub;
let [ada, bob]: TestAgent[] = [];
const folder = mkdtempSync(join(tmpdir(), 'poly-contracts-'));
beforeAll(async () => {
  hub = await TestHub.start();
  ada = await register(hub, 'ada');
  bob = await register(hub, 'bob');
});
afterAll(async () => {
  await hub[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true, force: true });
});

const codeOf = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => 'done',
    (error: unknown) => {
      if (!(error instanceof PolyError)) throw error;
      return (error.details as { readonly reason?: string } | undefined)?.reason ?? error.code;
    },
  );
const order = (properties: object, more: object = {}) => ({ type: 'object', properties, ...more });
const text = { type: 'string' };
const changed = (name: string, version: number, from: TestHub = hub) =>
  from.event('contract:changed', ({ payload }) => payload.name === name && payload.version === version);

describe('a contract', () => {
  it('has versions that differ, and a diff between any two', async () => {
    const one = ada as TestAgent;
    const first = await one.call('contract:register', { name: 'order', schema: order({ id: text }) });
    expect(first).toEqual({ name: 'order', project: 'demo', version: 1, changed: true });
    const again = { properties: { id: text }, type: 'object' };
    expect(await one.call('contract:register', { name: 'Order', schema: again })).toMatchObject({
      version: 1,
      changed: false,
    });
    const second = await one.call('contract:register', {
      name: 'order',
      schema: order({ id: text, at: text }, { required: ['at'] }),
      note: 'when',
    });
    expect(second).toMatchObject({
      version: 2,
      diff: { breaking: true, added: [{ path: '/properties/at', kind: 'required-property-added' }] },
    });
    expect(await one.call('contract:get', { name: 'order' })).toMatchObject({
      version: 2,
      latest: 2,
      note: 'when',
      format: 'jsonschema',
      registered_by: 'agent:ada',
    });
    expect((await one.call('contract:get', { name: 'order', version: 1 })).schema).toEqual(
      order({ id: text }),
    );
    expect(await one.call('contract:diff', { name: 'order', from_version: 2, to_version: 1 })).toMatchObject({
      removed: [{ kind: 'property-removed' }],
    });
    for (const version of [0, 3, -1]) {
      expect(await codeOf(one.call('contract:get', { name: 'order', version }))).toBe('unknown_version');
      expect(
        await codeOf(one.call('contract:diff', { name: 'order', from_version: version, to_version: 1 })),
      ).toBe('unknown_version');
    }
    expect(await codeOf(one.call('contract:get', { name: 'none' }))).toBe('unknown_contract');
    expect(await codeOf(one.call('contract:register', { name: 'bad', schema: { type: 42 } }))).toBe(
      'invalid_format',
    );
    expect(await codeOf(one.call('contract:register', { name: '../bad\n', schema: {} }))).toBe(
      'invalid_arguments',
    );
  });

  it('is heard of by those who subscribed, also before it was there, and by nobody else', async () => {
    const [one, two] = [ada as TestAgent, bob as TestAgent];
    expect(await two.call('contract:subscribe', { name: 'user' })).toMatchObject({ current_version: null });
    await one.call('contract:subscribe', { name: 'user' });
    await one.call('contract:register', { name: 'user', schema: order({ a: text }) });
    await one.call('contract:register', { name: 'user', schema: order({}) });
    await one.call('contract:register', { name: 'elsewhere', schema: order({}) });
    const { events, last_event_id } = await two.call('contract:pending', {});
    expect(events).toMatchObject([
      { name: 'user', version: 1, diff: null, breaking: false, reason: 'subscribed' },
      {
        name: 'user',
        version: 2,
        from_version: 1,
        breaking: true,
        diff: { removed: [{ path: '/properties/a' }] },
      },
    ]);
    // Whoever made it knows.
    expect((await one.call('contract:pending', {})).events).toEqual([]);
    await two.call('contract:ack', { name: 'user', version: 1 });
    expect((await two.call('contract:pending', {})).events.map(({ version }) => version)).toEqual([2]);
    await two.call('contract:ack', { name: 'user' });
    expect((await two.call('contract:pending', {})).events).toEqual([]);
    expect(
      (await two.call('contract:pending', { since_event_id: 0 })).events.map(
        ({ acknowledged }) => acknowledged,
      ),
    ).toEqual([true, true]);
    expect((await two.call('contract:pending', { since_event_id: last_event_id })).events).toEqual([]);
    // Each version is one message of the hub, once.
    const mail = await until(async () => {
      const { messages } = await two.call('mail:inbox', { peek: true, limit: 200 });
      return messages.length >= 2 && messages;
    });
    expect(mail.map(({ subject, trust }) => [subject, trust])).toEqual([
      ['contract user is at version 1', 'hub'],
      ['contract user is at version 2', 'hub'],
    ]);
    expect(mail[1]?.body).toContain('BREAKING /properties/a: the property a is gone');
  });

  it('that has changed makes tasks stale that are built on it, until that is acknowledged', async () => {
    const [one, two] = [ada as TestAgent, bob as TestAgent];
    await one.call('contract:register', { name: 'api', schema: order({ id: text }) });
    expect(await codeOf(one.call('task:add', { title: 'x', contracts: [{ name: 'none' }] }))).toBe(
      'unknown_contract',
    );
    expect(await codeOf(one.call('task:add', { title: 'x', contracts: [{ name: 'api', version: 9 }] }))).toBe(
      'unknown_version',
    );
    const { task_id } = await one.call('task:add', {
      title: 'client of the api',
      contracts: [{ name: 'api' }],
    });
    const { fence } = await two.call('task:claim', { task_id });
    await one.call('contract:register', { name: 'api', schema: order({ id: { type: 'integer' } }) });

    const stale = await hub.event('task:stale', ({ payload }) => payload.taskId === task_id);
    expect(stale.payload).toMatchObject({ contract: 'api', builtOn: 1, version: 2 });
    expect((await changed('api', 2)).payload).toMatchObject({ breaking: true, dependents: ['agent:bob'] });
    const { events } = await two.call('contract:pending', {});
    expect(events).toMatchObject([{ name: 'api', version: 2, reason: 'task' }]);
    const refused = two.call('task:complete', { task_id, fence });
    await expect(refused).rejects.toMatchObject({
      code: 'stale_contract',
      message: expect.stringContaining('api (built on version 1, now 2)'),
      hint: expect.stringContaining('poly contract ack api'),
    });
    expect((await two.call('task:list', { mine: true })).tasks).toMatchObject([
      { task_id, stale: true, contracts: [{ name: 'api', version: 1, current: 2, stale: true }] },
    ]);
    // Somebody else cannot say so for him.
    expect(await one.call('contract:ack', { name: 'api' })).toMatchObject({ acknowledged: 0, tasks: [] });
    expect(await two.call('contract:ack', { name: 'api' })).toMatchObject({
      acknowledged: 1,
      tasks: [task_id],
    });
    await two.call('task:complete', { task_id, fence });

    const old = await one.call('task:add', { title: 'old', contracts: [{ name: 'api', version: 1 }] });
    expect(await two.call('task:claim', { task_id: old.task_id })).toMatchObject({
      stale: [{ name: 'api', version: 1, current: 2 }],
    });
    expect(
      await hub.client.call('contract:ack', { name: 'api', project: 'demo', task_id: old.task_id }),
    ).toMatchObject({ tasks: [old.task_id] });
    await two.call('task:complete', { task_id: old.task_id });
  });

  it('is used as xats is, by tools', async () => {
    const client = await byStdio(hub, { args: ['--toolsets', 'mail,contracts'] });
    await use(client, 'register_agent', { name: 'tooled', project: 'demo' });
    expect(await use(client, 'register_contract', { name: 'tool', schema: { type: 42 } })).toMatch(
      /^ERROR invalid_arguments: that is no JSON Schema: \/type must be of/,
    );
    expect(
      JSON.parse(await use(client, 'register_contract', { name: 'tool', schema: order({}) })),
    ).toMatchObject({ version: 1 });
    expect(JSON.parse(await use(client, 'get_contract', { name: 'tool' }))).toMatchObject({
      schema: order({}),
    });
    expect(JSON.parse(await use(client, 'subscribe_contract', { name: 'tool' }))).toMatchObject({
      current_version: 1,
    });
    await (ada as TestAgent).call('contract:register', { name: 'tool', schema: order({ a: text }) });
    expect(
      JSON.parse(await use(client, 'diff_contracts', { name: 'tool', from_version: 1, to_version: 2 })),
    ).toMatchObject({ breaking: false, added: [{ kind: 'property-added' }], removed: [], changed: [] });
    expect(JSON.parse(await use(client, 'pending_contract_events'))).toMatchObject({
      events: [{ name: 'tool', version: 2 }],
    });
    expect(JSON.parse(await use(client, 'ack_contract', { name: 'tool' }))).toMatchObject({
      acknowledged: 1,
    });
    await client.close();
  });
});

describe('a file that is watched', () => {
  const yaml = (type: string) =>
    `openapi: 3.1.0\ninfo: {title: t, version: '1'}\npaths:\n  /a:\n    get:\n      responses:\n        '200':\n          content:\n            application/json:\n              schema: {type: ${type}}\n`;
  const watch = (path: string, more: object = {}) =>
    hub.client.call('contract:watch', { path, project: 'files', project_dir: folder, ...more });

  it('is a version whenever it says something else, however it is written', async () => {
    mkdirSync(join(folder, 'api'));
    const file = join(folder, 'api', 'openapi.yaml');
    writeFileSync(file, yaml('string'));
    expect(await watch(file)).toMatchObject({
      name: 'api/openapi.yaml',
      version: 1,
      format: 'openapi',
      watch: file,
    });
    await hub.client.call('contract:subscribe', { name: 'api/openapi.yaml', project: 'files' });
    // As an editor does, by another file in its place.
    writeFileSync(`${file}.new`, yaml('integer'));
    renameSync(`${file}.new`, file);
    const { payload } = await changed('api/openapi.yaml', 2);
    expect(payload).toMatchObject({
      breaking: true,
      from: 1,
      changes: [{ kind: 'type-changed' }],
      dependents: [expect.stringMatching(/^user:/)],
    });
    // The same in other words is no version, and what is broken neither; both are told once.
    writeFileSync(file, `# a comment\n${yaml('integer')}`);
    writeFileSync(file, 'openapi: [3.1\n');
    const trouble = await hub.event('contract:trouble', (event) => event.payload.name === 'api/openapi.yaml');
    expect(trouble.payload.problem).toMatch(/^it is not YAML: /);
    writeFileSync(file, yaml('boolean'));
    await changed('api/openapi.yaml', 3);
    await hub.event('contract:mended', (event) => event.payload.name === 'api/openapi.yaml');
    rmSync(file);
    await hub.event('contract:trouble', (event) => event.payload.problem === 'it is gone');
    writeFileSync(file, JSON.stringify({ openapi: '3.1.0', info: { title: 't', version: '1' }, paths: {} }));
    await changed('api/openapi.yaml', 4);
    expect(
      await codeOf(
        hub.client.call('contract:register', { name: 'api/openapi.yaml', schema: {}, project: 'files' }),
      ),
    ).toBe('conflict');
    const told: PolyEvent[] = [];
    for await (const event of hub.events('contract:trouble,contract:changed', { since: 0 })) {
      const { name, version } = event.payload as { readonly name: string; readonly version?: number };
      if (name === 'api/openapi.yaml') told.push(event);
      if (name === 'api/openapi.yaml' && version === 4) break;
    }
    expect(told.filter(({ event }) => event === 'contract:trouble')).toHaveLength(2);
  });

  it('may be behind a link within its project, and nowhere else', async () => {
    const [outside, real] = [mkdtempSync(join(tmpdir(), 'poly-outside-')), join(folder, 'real.json')];
    writeFileSync(join(outside, 'a.json'), '{"type":"string"}');
    symlinkSync(join(outside, 'a.json'), join(folder, 'out.json'));
    await expect(watch(join(folder, 'out.json'))).rejects.toThrow(/link that leads out of/);
    writeFileSync(real, '{"type":"string"}');
    symlinkSync(real, join(folder, 'linked.json'));
    expect(await watch(join(folder, 'linked.json'))).toMatchObject({ version: 1 });
    writeFileSync(real, '{"type":"number"}');
    await changed('linked.json', 2);
    for (const [file, why] of [
      [join(folder, 'none.json'), /is gone/],
      [folder, /no file|out of|directory/],
      ['/dev/zero', /no file|out of/],
    ] as const)
      await expect(watch(file)).rejects.toThrow(why);
    execFileSync('mkfifo', [join(folder, 'pipe')]);
    await expect(watch(join(folder, 'pipe'))).rejects.toThrow(/no file/);
    rmSync(outside, { recursive: true });
  });

  it('is only for the user and for who works in its folder', async () => {
    const file = join(folder, 'mine.json');
    writeFileSync(file, '{"type":"string"}');
    expect(await codeOf((ada as TestAgent).call('contract:watch', { path: file }))).toBe('forbidden');
    await hub.client.call('pane:new', {
      id: 'here',
      cwd: folder,
      argv: ['sh', '-c', 'echo "$POLY_TOKEN"; exec cat'],
    });
    const token = await until(
      async () => (await hub.client.call('pane:read', { paneId: 'here' })).lines?.[0]?.text,
    );
    const here = hub.as(token);
    expect(await here.call('contract:watch', { path: 'mine.json' })).toMatchObject({
      name: 'mine.json',
      version: 1,
    });
    expect(await codeOf(here.call('contract:watch', { path: '../x.json' }))).toBe('forbidden');

    // Whatever an agent says of itself, it reaches no further.
    const outside = mkdtempSync(join(tmpdir(), 'poly-outside-'));
    const secret = join(outside, 'secret.json');
    writeFileSync(secret, '{"type":"string"}');
    symlinkSync(secret, join(folder, 'to-secret.json'));
    const claimed = { path: 'to-secret.json', project_dir: '/' };
    await expect(here.call('contract:watch', claimed)).rejects.toThrow(/link that leads out of/);
    const named = await here.call('mail:register', { name: 'reaching', project: 'files', project_dir: '/' });
    const reaching = hub.as(named.secret ?? '');
    for (const agent of [here, reaching])
      expect(await codeOf(agent.call('contract:watch', { path: secret }))).toBe('forbidden');
    await reaching.call('mail:register', {
      ...{ name: 'reaching', project: 'files', project_dir: '/', take_over: true },
    });
    const again = await hub.client.call('mail:register', {
      ...{ name: 'reaching', project: 'files', project_dir: outside, take_over: true },
    });
    expect(await hub.as(again.secret ?? '').call('contract:watch', { path: secret })).toMatchObject({
      name: 'secret.json',
    });
    rmSync(outside, { recursive: true });
  });

  it('has a name that a contract can have, or is given one', async () => {
    const path = join(folder, 'b\u001b[31m\nx.json');
    writeFileSync(path, '{"type":"string"}');
    await expect(watch(path)).rejects.toThrow('no contract can be called "b\\u001b[31m\\nx.json"');
    expect(await watch(path, { name: 'plain' })).toMatchObject({ name: 'plain', version: 1 });
    expect(await codeOf(watch(`${path}\0`))).toBe('invalid_arguments');
    expect(await codeOf(hub.client.call('contract:register', { name: 'n', schema: {}, note: 'a\0' }))).toBe(
      'invalid_arguments',
    );
  });

  it('is looked at again by the next hub, and what changed meanwhile is a version', async () => {
    await using own = await TestHub.start();
    const file = join(own.home, 'schema.json');
    writeFileSync(file, '{"type":"string"}');
    await own.client.call('contract:watch', { path: file, project: 'p', project_dir: own.home });
    await own.client.call('contract:subscribe', { name: 'schema.json', project: 'p' });
    await own.kill('SIGKILL');
    writeFileSync(file, '{"type":"number"}');
    await own.start();
    await changed('schema.json', 2, own);
    const [message] = await until(async () => {
      const { messages } = await own.client.call('mail:inbox', { peek: true });
      return messages.length > 0 && messages;
    });
    expect(message?.subject).toBe('contract schema.json is at version 2');
    writeFileSync(file, '{"type":"boolean"}');
    await changed('schema.json', 3, own);
    await own.client.call('contract:unwatch', { name: 'schema.json', project: 'p' });
    expect((await own.client.call('contract:list', {})).contracts).toEqual([
      { name: 'schema.json', project: 'p', version: 3, subscribers: 1, format: 'jsonschema' },
    ]);
  }, 60_000);
});
