import { execFileSync } from 'node:child_process';
import { chmodSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { NamedAgent } from '@polyphony/protocol';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { invited } from './people-ground.ts';
import { TestHub, until } from './test-hub.ts';

let hub: TestHub;
beforeAll(async () => {
  hub = await TestHub.start({ config: '[output]\nkeep = "disk"\n' });
}, 60_000);
afterAll(() => hub[Symbol.asyncDispose]());

type Member = NamedAgent['members'][number];

const member = (
  name: string,
  project: string,
  fits: (one: Member) => boolean = () => true,
): Promise<Member> =>
  until(async () => {
    const { members } = await hub.client.call('floor:agent', { name });
    return members.find((one) => one.project_key === project && fits(one));
  });
const running = (name: string, project: string) => member(name, project, ({ state }) => state === 'running');

/** What a pane prints, as soon as it fits. */
const prints = (pane: string, fits: RegExp): Promise<string> =>
  until(async () => {
    const { lines = [] } = await hub.client.call('pane:read', { paneId: pane }).catch(() => ({ lines: [] }));
    const text = lines.map((line) => line.text).join('\n');
    return fits.test(text) && text;
  });

/** A program that says each time it starts, and lives as long as it is let. */
function program(
  name: string,
  then = 'exec cat',
): { readonly argv: readonly string[]; readonly starts: () => number } {
  const file = join(hub.home, `${name}.starts`);
  writeFileSync(file, '');
  return {
    argv: ['sh', '-c', `echo started >> '${file}'; ${then}`],
    starts: () => readFileSync(file, 'utf8').split('\n').length - 1,
  };
}

it('runs the command of an agent in each of its projects, as that agent, in its session', async () => {
  const { argv, starts } = program('nils', 'echo "I am $POLY_AGENT in $POLY_PROJECT"; exec cat');
  await hub.client.call('floor:agent-add', {
    name: 'nils',
    hosting: 'hub',
    command: argv,
    tags: ['post'],
    cwd: hub.home,
  });
  await hub.client.call('project:create', { name: 'Rome', tags: ['post'] });
  await hub.client.call('project:create', { name: 'Paris', tags: ['post'] });
  const [rome, paris] = [await running('nils', 'rome'), await running('nils', 'paris')];
  await prints(rome.pane ?? '', /I am nils in rome/);
  await prints(paris.pane ?? '', /I am nils in paris/);
  expect(starts()).toBe(2);
  const { agents } = await hub.client.call('mail:agents', { project: 'rome' });
  expect(agents).toMatchObject([{ name: 'nils', pane: rome.pane, liveness: 'alive' }]);
  const session = await hub.client.call('floor:session', { session: rome.session_id });
  expect(session).toMatchObject({ slug: 'nils-rome', agent: 'agent:nils', bindings: [{ pane: rome.pane }] });
  const ada = await invited(hub, 'ada');
  const advised = await ada.call('floor:advise', { text: '@nils are you there?', project: 'rome' });
  expect(advised).toMatchObject({ session_id: rome.session_id });

  // Nobody else can be it.
  const other = hub.as(await hub.paneToken('impostor'));
  for (const by of [other, hub.client])
    await expect(
      by.call('mail:register', { name: 'nils', project: 'rome', take_over: true }),
    ).rejects.toMatchObject({
      ...{ code: 'forbidden', details: { reason: 'hosted_by_hub' } },
    });
  await hub.client.call('project:tag', { project: 'paris', remove: ['post'] });
  await hub.event('pane:removed', ({ payload }) => payload.paneId === paris.pane);
  expect((await hub.client.call('mail:agents', { project: 'paris' })).agents).toEqual([]);
  await hub.client.call('project:archive', { project: 'rome' });
  await hub.event('pane:removed', ({ payload }) => payload.paneId === rome.pane);
  await hub.client.call('project:archive', { project: 'rome', undo: true });
  await running('nils', 'rome');
  await hub.client.call('floor:agent-remove', { name: 'nils' });
  await until(
    async () => !(await hub.client.call('pane:list', {})).some(({ title }) => title.startsWith('nils')),
  );
}, 240_000);

it('is found again after a kill of the hub, and is not started twice', async () => {
  const { argv, starts } = program('twin');
  await hub.client.call('floor:agent-add', { name: 'twin', hosting: 'hub', command: argv });
  await hub.client.call('floor:agent-invite', { name: 'twin', project: 'zoo' });
  const before = await running('twin', 'zoo');
  const [pane] = (await hub.client.call('pane:list', {})).filter(({ id }) => id === before.pane);
  await hub.kill('SIGKILL');
  await hub.start();
  const after = await running('twin', 'zoo');
  const [again] = (await hub.client.call('pane:list', {})).filter(({ id }) => id === after.pane);
  expect([after.pane, again?.pid, starts()]).toEqual([before.pane, pane?.pid, 1]);

  // Killed with the hub away: it is started again by the next one.
  await hub.kill('SIGKILL');
  process.kill(pane?.pid ?? 0, 'SIGKILL');
  await hub.start();
  await until(() => starts() === 2);
  await running('twin', 'zoo');
  // Removed with the hub killed right behind it: what ran ends all the same.
  await hub.client.call('floor:agent-remove', { name: 'twin' });
  await hub.kill('SIGKILL');
  await hub.start();
  await until(
    async () => !(await hub.client.call('pane:list', {})).some(({ title }) => title.startsWith('twin')),
  );
  expect(starts()).toBe(2);
}, 240_000);

it('is started again when it ends, later each time, and says so', async () => {
  const { argv, starts } = program('frail', 'exit 3');
  await hub.client.call('floor:agent-add', { name: 'frail', hosting: 'hub', command: argv });
  await hub.client.call('floor:agent-invite', { name: 'frail', project: 'ward' });
  const waiting = await member(
    'frail',
    'ward',
    ({ state, restarts = 0 }) => state === 'waiting' && restarts === 2,
  );
  expect(waiting).toMatchObject({ reason: 'it ended with 3', next_at: expect.any(String) });
  expect(starts()).toBe(2);
  const states: [string, number][] = [];
  for await (const { event, payload, at } of hub.events('floor:agent-state', { since: 0 })) {
    const told = payload as { readonly name: string; readonly state: string; readonly nextAt?: string };
    if (event !== 'floor:agent-state' || told.name !== 'frail' || told.state !== 'waiting') continue;
    states.push([told.state, Date.parse(told.nextAt ?? '') - at]);
    if (states.length === 2) break;
  }
  const [first = 0, second = 0] = states.map(([, wait]) => wait);
  expect(second).toBeGreaterThan(first * 1.5);
  // It gets another command, and comes up by itself.
  const better = program('frail');
  await hub.client.call('floor:agent-edit', { name: 'frail', command: better.argv });
  const up = await running('frail', 'ward');
  expect(up.reason).toBeUndefined();
  await hub.client.call('floor:agent-edit', { name: 'frail', command: ['/no/such/program'] });
  process.kill(
    (await hub.client.call('pane:list', {})).find(({ id }) => id === up.pane)?.pid ?? 0,
    'SIGKILL',
  );
  const lost = await member('frail', 'ward', ({ reason = '' }) => reason.includes('/no/such/program'));
  expect(lost.state).toBe('waiting');
  await hub.client.call('floor:agent-remove', { name: 'frail' });
}, 240_000);

it('drives a session of its own, and gives way to a person at once', async () => {
  const { argv } = program('ivan');
  await hub.client.call('floor:agent-add', { name: 'ivan', hosting: 'hub', command: argv, drives: true });
  await hub.client.call('floor:agent-invite', { name: 'ivan', project: 'rally' });
  const { pane = '', session_id: session } = await running('ivan', 'rally');
  expect(await hub.client.call('floor:session', { session })).toMatchObject({ driver: 'agent:ivan' });
  await expect(hub.client.call('pane:write', { paneId: pane, data: 'x' })).rejects.toMatchObject({
    ...{ code: 'forbidden', message: expect.stringMatching(/^agent:ivan drives/) },
  });
  const taken = await hub.client.call('floor:claim', { session, takeover: true });
  expect(taken).toMatchObject({ status: 'claimed', before: 'agent:ivan' });
  await hub.client.call('pane:write', { paneId: pane, data: 'x' });
  // Started again, it does not take the seat from who has it.
  await hub.client.call('pane:restart', { paneId: pane });
  await running('ivan', 'rally');
  await until(async () => (await hub.client.call('floor:session', { session })).bindings.length === 1);
  expect((await hub.client.call('floor:session', { session })).driver).toMatch(/^user:/);
}, 240_000);

it('has secrets that only its own program is given, and that appear nowhere', async () => {
  const canary = `canary"\\ü-${Array.from({ length: 12 }, () => Math.random().toString(36).slice(2, 4)).join('')}`;
  const plain = canary.slice('canary"\\ü-'.length);
  const { argv } = program(
    'vera',
    'echo "got $(printf %s "$VAULT_KEY" | wc -m)"; printf "%s\\n" "$VAULT_KEY"; exec cat',
  );
  await hub.client.call('floor:agent-add', { name: 'vera', hosting: 'hub', command: argv });
  const body = JSON.stringify({ variable: 'VAULT_KEY', value: canary });
  const headers = {
    authorization: `Bearer ${hub.token}`,
    'content-type': 'application/json',
    'idempotency-key': 'v',
  };
  const set = { method: 'POST', path: '/team/agents/vera/secrets', headers, body } as Parameters<
    TestHub['send']
  >[0];
  for (const { body: answer } of [await hub.send(set), await hub.send(set)])
    expect(JSON.parse(answer)).toEqual({ secrets: ['VAULT_KEY'] });
  expect(statSync(join(hub.dir, 'secrets.key')).mode & 0o777).toBe(0o600);
  await hub.client.call('floor:agent-invite', { name: 'vera', project: 'bank' });
  const { pane = '', session_id: session } = await running('vera', 'bank');
  await prints(pane, new RegExp(`got ${canary.length}`));
  const own = hub.as(await tokenIn(pane));
  // The agent tells it wherever it can: in its session, to others, about its pane, by mistake.
  await own.call('floor:record', {
    ...{ session, payload: { hook_event_name: 'Stop', last_assistant_message: `the key is ${canary}` } },
  });
  await own.call('floor:reply', { message: `in JSON ${JSON.stringify({ canary })}` });
  await own.call('mail:send', { to_agent_name: 'user', body: `psst: ${canary}` });
  await own.call('pane:set-meta', { paneId: pane, key: 'note', value: canary });
  await own.call('floor:advise', { text: `@${canary} hello` }).catch(() => undefined);
  await own.call('task:add', { title: `use ${canary}`, project: 'bank' });
  await hub.client
    .call('floor:agent-secret', { name: 'vera', variable: canary, value: null })
    .catch(() => undefined);
  const { entries } = await hub.client.call('floor:timeline', { session, kinds: ['answer', 'reply'] });
  expect(entries.map(({ text }) => text)).toEqual([
    'the key is [redacted secret]',
    'in JSON {"canary":"[redacted secret]"}',
  ]);
  const seen = JSON.stringify([
    entries,
    await hub.client.call('pane:list', {}),
    await hub.client.call('floor:agents', {}),
    await hub.client.call('mail:inbox', { limit: 200 }),
    await hub.client.call('agent:list', {}),
    await hub.client.call('task:list', { project: 'bank' }),
    await everyEvent(),
  ]);
  expect(seen).not.toContain(plain);
  await hub.client.call('server:backup', {});
  expect(grep(plain)).toBe('');

  // Started again, by the hub or by hand, it has it still; another pane never does.
  await hub.kill('SIGKILL');
  await hub.start();
  await hub.client.call('pane:restart', { paneId: pane });
  await running('vera', 'bank');
  await prints(pane, new RegExp(`got ${canary.length}`));
  await own.call('pane:list', {}).catch(() => undefined);
  await hub.client.call('pane:new', {
    id: 'nosy',
    argv: ['sh', '-c', 'test -z "$VAULT_KEY" && echo has nothing; exec cat'],
  });
  await prints('nosy', /has nothing/);
  expect(grep(plain)).toBe('');
  await hub.client.call('floor:agent-secret', { name: 'vera', variable: 'VAULT_KEY', value: null });
  await expect(
    hub.client.call('floor:agent-secret', { name: 'vera', variable: 'VAULT_KEY', value: null }),
  ).rejects.toMatchObject({ code: 'not_found' });
  await hub.client.call('pane:restart', { paneId: pane });
  await running('vera', 'bank');
  await prints(pane, /got 0/);
}, 240_000);

it('says so where a secret cannot be opened, and starts nothing without it', async () => {
  const { argv, starts } = program('lost');
  await hub.client.call('floor:agent-add', { name: 'lost', hosting: 'hub', command: argv });
  await hub.client.call('floor:agent-secret', { name: 'lost', variable: 'KEY', value: 'open sesame' });
  for (const break_ of [
    (key: string) => writeFileSync(key, Buffer.alloc(32, 7), { mode: 0o600 }),
    (key: string) => chmodSync(key, 0o644),
    (key: string) => rmSync(key),
  ]) {
    await hub.kill('SIGKILL');
    break_(join(hub.dir, 'secrets.key'));
    await hub.start();
    await hub.client.call('floor:agent-invite', { name: 'lost', project: 'fog' });
    const waiting = await member('lost', 'fog', ({ state }) => state === 'waiting');
    expect(waiting.reason).toMatch(/the secrets KEY of lost cannot be opened.*poly agent secret lost KEY/);
    await hub.client.call('floor:agent-dismiss', { name: 'lost', project: 'fog' });
  }
  expect(starts()).toBe(0);
}, 240_000);

it.each([
  ['VAULT', 'qqq', /at least 8 characters/],
  ['VAULT', '1234567890', /must have letters/],
  ['POLY_TOKEN', 'long enough', /name of a variable/],
  ['A B', 'long enough', /name of a variable/],
])('keeps no secret %s that is "%s", and does not repeat it', async (variable, value, message) => {
  await hub.client.call('floor:agent-add', { name: 'sam' }).catch(() => undefined);
  const error = await hub.client
    .call('floor:agent-secret', { name: 'sam', variable, value })
    .catch((one: unknown) => one);
  expect(error).toMatchObject({ code: 'invalid_arguments', message: expect.stringMatching(message) });
  expect((error as Error).message).not.toContain(value);
});

/** Every file of the hub in which a text stands. */
function grep(text: string): string {
  try {
    return execFileSync('grep', ['-rlaF', '--', text, hub.dir], { encoding: 'utf8' });
  } catch (error) {
    if ((error as { readonly status?: number }).status === 1) return '';
    throw error;
  }
}

async function everyEvent(): Promise<readonly unknown[]> {
  const all: unknown[] = [];
  const { seq } = await hub.event('server:started');
  await hub.client.call('server:backup', {});
  for await (const event of hub.events('*', { since: 0 })) {
    all.push(event);
    if (
      event.seq > seq &&
      event.event === 'action:success' &&
      JSON.stringify(event.payload).includes('server:backup')
    )
      return all;
  }
  return all;
}

/** The credential of a pane, as its program has it. */
async function tokenIn(pane: string): Promise<string> {
  const found = (await hub.client.call('pane:list', {})).find(({ id }) => id === pane);
  const variables = readFileSync(`/proc/${found?.pid}/environ`, 'utf8').split('\0');
  return variables.find((one) => one.startsWith('POLY_TOKEN='))?.slice('POLY_TOKEN='.length) ?? '';
}
