import { existsSync, mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Client, KnowledgeText, NamedAgent, PolyError } from '@polyphony/protocol';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { register } from './mail-ground.ts';
import { invited } from './people-ground.ts';
import { TestHub, until } from './test-hub.ts';

let hub: TestHub;
let ada: Client;
beforeAll(async () => {
  hub = await TestHub.start();
  ada = await invited(hub, 'ada');
}, 60_000);
afterAll(() => hub[Symbol.asyncDispose]());

const refusal = (code: string, more: object = {}) =>
  expect.objectContaining({ code, hint: expect.any(String), ...more });

/** Where a named agent is, as soon as something is so there. */
const member = (
  name: string,
  project: string,
  fits: (one: NamedAgent['members'][number]) => boolean = () => true,
) =>
  until(async () => {
    const { members } = await hub.client.call('floor:agent', { name });
    return members.find((one) => one.project_key === project && fits(one));
  });

const rest = async (method: 'GET' | 'POST' | 'DELETE', path: string, body?: unknown, token = hub.token) => {
  const sent = await hub.send({
    ...{ method, path, headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' } },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  } as Parameters<TestHub['send']>[0]);
  return { status: sent.status, body: JSON.parse(sent.body) };
};

describe('the registry of named agents', () => {
  it('keeps who somebody is, over a kill of the hub, and forgets it', async () => {
    const added = await hub.client.call('floor:agent-add', {
      ...{ name: 'Grace', display_name: 'Grace Hopper', icon: '🐘', description: 'Knows databases.' },
      ...{ skills: ['sql', 'sql', 'postgres'], tags: ['Data'], budget: 5, watch: { kinds: ['failure'] } },
    });
    expect(added).toMatchObject({
      ...{
        name: 'grace',
        participant: 'agent:grace',
        display_name: 'Grace Hopper',
        shown_as: 'Grace Hopper',
      },
      ...{ skills: ['sql', 'postgres'], tags: ['data'], hosting: 'self', budget: 5, isolated: false },
      ...{ members: [], secrets: [], subagents: [], watch: { kinds: ['failure'] } },
    });
    await hub.kill('SIGKILL');
    await hub.start();
    expect(await hub.client.call('floor:agent', { name: 'grace' })).toEqual(added);
    const edited = await hub.client.call('floor:agent-edit', { name: 'grace', icon: null, budget: 7 });
    expect(edited).toMatchObject({ budget: 7, display_name: 'Grace Hopper', skills: ['sql', 'postgres'] });
    expect(edited.icon).toBeUndefined();
    expect((await hub.client.call('floor:agents', { skill: 'POST' })).agents).toMatchObject([
      { name: 'grace' },
    ]);
    expect((await hub.client.call('floor:agents', { skill: 'cobol' })).agents).toEqual([]);
    await hub.client.call('floor:agent-remove', { name: 'grace' });
    await expect(hub.client.call('floor:agent', { name: 'grace' })).rejects.toEqual(refusal('not_found'));
    await hub.kill('SIGKILL');
    await hub.start();
    await expect(hub.client.call('floor:agent', { name: 'grace' })).rejects.toEqual(refusal('not_found'));
  });

  it.each([
    [{ name: 'no spaces' }, /name must be 1-64 letters/],
    [{ name: '../x' }, /name must be/],
    [{ name: 'x', icon: 'elephant' }, /icon must be one emoji/],
    [{ name: 'x', icon: '\u202e' }, /icon must be one emoji/],
    [{ name: 'x', display_name: 'a\u202eb' }, /display_name must be/],
    [{ name: 'x', description: 'a\nb' }, /description must hold nothing that cannot be seen/],
    [{ name: 'x', skills: ['a\u0000'] }, /skills/],
    [{ name: 'x', tags: ['no spaces'] }, /tags/],
    [{ name: 'x', budget: 0 }, /budget/],
    [{ name: 'x', hosting: 'cloud' }, /hosting/],
    [{ name: 'x', hosting: 'hub' }, /cannot run "x" without a command/],
    [{ name: 'x', hosting: 'hub', command: ['cat'], cwd: 'here' }, /cwd must be an absolute path/],
    [{ name: 'x', watch: { kinds: ['advice'] } }, /watch/],
  ])('takes no agent like %j', async (params, message) => {
    await expect(hub.client.call('floor:agent-add', params as never)).rejects.toMatchObject({
      code: 'invalid_arguments',
      message: expect.stringMatching(message),
    });
  });

  it('gives no name twice, none of the hub, and is for the user to change', async () => {
    await hub.client.call('floor:agent-add', { name: 'once' });
    await expect(hub.client.call('floor:agent-add', { name: 'ONCE' })).rejects.toEqual(refusal('conflict'));
    await expect(hub.client.call('floor:agent-add', { name: 'hub' })).rejects.toEqual(refusal('forbidden'));
    await expect(hub.client.call('floor:agent-add', { name: 'none.sql' })).rejects.toEqual(
      refusal('not_found'),
    );
    const pane = hub.as(await hub.paneToken('sneaky'));
    for (const other of [ada, pane]) {
      expect((await other.call('floor:agents', {})).agents.map(({ name }) => name)).toContain('once');
      expect((await other.call('floor:agent', { name: 'once' })).secrets).toBeUndefined();
      for (const [action, params] of [
        ['floor:agent-add', { name: 'mole' }],
        ['floor:agent-edit', { name: 'once' }],
        ['floor:agent-remove', { name: 'once' }],
        ['floor:agent-invite', { name: 'once', project: 'p' }],
        ['floor:agent-secret', { name: 'once', variable: 'A', value: 'a secret' }],
        ['floor:knowledge-write', { path: 'a.md', text: 'x' }],
        ['floor:knowledge-remove', { path: 'a.md' }],
      ] as const)
        await expect(other.call(action, params as never)).rejects.toEqual(refusal('forbidden'));
    }
  });

  it('is there over HTTP, under /team and /projects', async () => {
    const made = await rest('POST', '/team/agents', { name: 'webb', display_name: 'Ŵebb', tags: ['web'] });
    expect(made).toMatchObject({ status: 201, body: { participant: 'agent:webb', display_name: 'Ŵebb' } });
    expect((await rest('POST', '/team/agents/webb', { icon: '🕸️' })).body).toMatchObject({ icon: '🕸️' });
    await hub.client.call('project:create', { name: 'Läden' });
    const path = `/projects/${encodeURIComponent('läden')}/members`;
    expect((await rest('POST', path, { participant_id: 'agent:webb' })).body.members).toMatchObject([
      { project: 'Läden', session: 'webb-läden', how: 'invited', state: 'away' },
    ]);
    expect((await rest('GET', path)).body).toMatchObject([{ name: 'webb' }]);
    expect((await rest('GET', '/team/agents?skill=none')).body).toEqual([]);
    expect((await rest('GET', '/team')).body.team).toContainEqual(
      expect.objectContaining({
        participant: 'agent:webb',
        shown_as: 'Ŵebb',
        icon: '🕸️',
        projects: ['Läden'],
      }),
    );
    expect((await rest('POST', path, { participant_id: 'user:ada' })).status).toBe(400);
    expect((await rest('DELETE', `${path}/${encodeURIComponent('agent:webb')}`)).body.members).toEqual([]);
    expect((await rest('DELETE', `${path}/webb`)).status).toBe(404);
    expect((await rest('DELETE', '/team/agents/webb')).status).toBe(200);
    expect((await rest('GET', '/team/agents/webb')).status).toBe(404);
  });

  it('answers a repeat with the same key as it did, and adds nothing twice', async () => {
    const headers = {
      authorization: `Bearer ${hub.token}`,
      'content-type': 'application/json',
      'idempotency-key': 'k1',
    };
    const add = () =>
      hub.send({ method: 'POST', path: '/team/agents', headers, body: '{"name":"keyed"}' } as Parameters<
        TestHub['send']
      >[0]);
    const [first, second] = [await add(), await add()];
    expect([first.status, second.status, second.body]).toEqual([201, 201, first.body]);
  });
});

describe('a named agent in projects', () => {
  it('joins projects by their tags with one session each, and leaves with the tag', async () => {
    await hub.client.call('floor:agent-add', { name: 'dora', tags: ['data', 'sql'] });
    await hub.client.call('project:create', { name: 'Shop', tags: ['data'] });
    await hub.client.call('project:create', { name: 'Depot' });
    expect(await member('dora', 'shop')).toMatchObject({ how: 'tag', session: 'dora-shop', state: 'away' });
    await hub.client.call('project:tag', { project: 'depot', add: ['SQL'] });
    expect(await member('dora', 'depot')).toMatchObject({ session: 'dora-depot' });
    const { sessions } = await hub.client.call('floor:sessions', { project: 'depot' });
    expect(sessions).toMatchObject([{ slug: 'dora-depot', agent: 'agent:dora' }]);
    await expect(hub.client.call('floor:agent-dismiss', { name: 'dora', project: 'depot' })).rejects.toEqual(
      refusal('conflict', { message: expect.stringContaining('by the tag sql') }),
    );
    await hub.client.call('project:tag', { project: 'depot', remove: ['sql'] });
    const left = await hub.event('floor:agent-left', ({ payload }) => payload.projectKey === 'depot');
    expect(left.payload.name).toBe('dora');
    const { members } = await hub.client.call('floor:agent', { name: 'dora' });
    expect(members.map(({ project }) => project)).toEqual(['Shop']);
    // It finds the session it had.
    await hub.client.call('floor:agent-invite', { name: 'dora', project: 'depot' });
    const again = await hub.client.call('floor:sessions', { project: 'depot' });
    expect(again.sessions.map(({ session_id }) => session_id)).toEqual([sessions[0]?.session_id]);
  });

  it('joins what was tagged while the hub was killed, and begins a deleted session anew', async () => {
    await hub.client.call('project:create', { name: 'night', tags: ['late'] });
    await hub.kill('SIGKILL');
    await hub.start();
    await hub.client.call('floor:agent-add', { name: 'owl', tags: ['late'] });
    const { session_id } = await member('owl', 'night');
    await hub.client.call('floor:delete', { session: session_id });
    const anew = await member('owl', 'night', (one) => one.session_id !== session_id);
    expect(anew.session).toBe('owl-night');
    await hub.client.call('project:delete', { project: 'night' });
    await hub.event('floor:agent-left', ({ payload }) => payload.name === 'owl');
    expect((await hub.client.call('floor:agent', { name: 'owl' })).members).toEqual([]);
  });

  it('gets a session of another name where somebody else has its own', async () => {
    await hub.client.call('floor:open', { project: 'full', name: 'pat-full' });
    await hub.client.call('floor:agent-add', { name: 'pat' });
    const { members } = await hub.client.call('floor:agent-invite', { name: 'pat', project: 'full' });
    expect(members).toMatchObject([{ session: 'pat-full-2' }]);
  });

  it('is whoever registers with its name, in each project, and feeds its own session there', async () => {
    await hub.client.call('floor:agent-add', { name: 'rosa', display_name: 'Rosa', icon: 'R' });
    const pane = hub.as(await hub.paneToken('rosa-pane'));
    await pane.call('mail:register', { name: 'rosa', project: 'north' });
    await register(hub, 'rosa', { project: 'south' });
    const { session_id } = await member('rosa', 'north', ({ state }) => state === 'here');
    expect(await member('rosa', 'south')).toMatchObject({ how: 'registered' });
    const { session, status } = await pane.call('floor:join', { project: 'north' });
    expect([session.session_id, session.agent, status]).toEqual([session_id, 'agent:rosa', 'joined']);
    const { team } = await hub.client.call('floor:team', { project: 'north' });
    expect(team).toContainEqual(
      expect.objectContaining({ participant: 'agent:rosa', shown_as: 'Rosa', icon: 'R', liveness: 'alive' }),
    );
    await hub.client.call('floor:agent-dismiss', { name: 'rosa', project: 'south' });
    const { members } = await hub.client.call('floor:agent', { name: 'rosa' });
    expect(members.map(({ project }) => project)).toEqual(['north']);
    await expect(hub.client.call('mail:agents', { project: 'south' })).resolves.toMatchObject({ agents: [] });
  });
});

describe('sub-agents', () => {
  it('are shown as the one above them, are written to by their own name, and are audited as themselves', async () => {
    for (const params of [{ name: 'dean', display_name: 'Dean', icon: '🦉' }, { name: 'dean.sql' }])
      await hub.client.call('floor:agent-add', params);
    expect(await hub.client.call('floor:agent', { name: 'dean.sql' })).toMatchObject({
      ...{ parent: 'dean', shown_as: 'Dean', display_name: 'dean.sql' },
    });
    expect((await hub.client.call('floor:agent', { name: 'dean' })).subagents).toEqual(['dean.sql']);
    await expect(hub.client.call('floor:agent-remove', { name: 'dean' })).rejects.toEqual(
      refusal('conflict'),
    );
    const dean = await register(hub, 'dean', { project: 'desk' });
    const sql = await register(hub, 'dean.sql', { project: 'desk' });
    await ada.call('floor:advise', { text: '@dean.sql which index?', project: 'desk' });
    expect(await sql.read()).toMatchObject([{ from: 'user:ada', body: 'which index?' }]);
    const { message_id } = await ada.call('mail:send', {
      to_agent_name: '@dean',
      to_project: 'desk',
      body: 'Slow query.',
    });
    await dean.read();
    const handed = await dean.call('floor:hand-on', { message_id, to: 'sql', note: 'Yours.' });
    expect(handed).toMatchObject({ from: 'user:ada', to: 'agent:dean.sql' });
    const [got] = await sql.read();
    expect(got).toMatchObject({
      from: 'agent:dean',
      body: expect.stringMatching(/user:ada wrote.*\n\nYours\.\n\nSlow query\.$/s),
    });
    await sql.call('mail:send', { to_agent_name: 'user:ada', reply_to: got?.message_id, body: 'Mended.' });
    const { messages } = await ada.call('mail:inbox', {});
    expect(messages.at(-1)).toMatchObject({
      from: 'agent:dean.sql',
      body: 'Mended.',
      thread_id: handed.thread_id,
    });
    const events = await hub.event('mail:sent', ({ payload }) => payload.from === 'agent:dean.sql');
    expect(events.source).toBe('agent:dean.sql');
    const stranger = await register(hub, 'stranger', { project: 'desk' });
    await expect(stranger.call('floor:hand-on', { message_id, to: 'dean.sql' })).rejects.toEqual(
      refusal('not_found'),
    );
    await expect(dean.call('floor:hand-on', { message_id, to: 'stranger' })).rejects.toEqual(
      refusal('not_found', { hint: 'There are dean.sql.' }),
    );
  });
});

describe('the budget of a named agent', () => {
  it('throttles it in one project, says until when, and never throttles people', async () => {
    await hub.client.call('floor:agent-add', { name: 'chatty', budget: 3 });
    const chatty = await register(hub, 'chatty', { project: 'loud' });
    const elsewhere = await register(hub, 'chatty', { project: 'quiet' });
    await register(hub, 'listener', { project: 'loud' });
    await register(hub, 'listener', { project: 'quiet' });
    const say = (by: Client, project?: string) =>
      by
        .call('mail:send', { to_agent_name: 'listener', body: 'hm', ...(project && { to_project: project }) })
        .catch((error: unknown) => error as PolyError);
    await member('chatty', 'loud');
    const answers = await Promise.all(Array.from({ length: 6 }, () => say(chatty)));
    const refused = answers.filter((one) => 'code' in one);
    expect(refused).toHaveLength(3);
    expect(refused[0]).toMatchObject({
      code: 'too_many_requests',
      hint: expect.stringMatching(/^Wait \d+ seconds, until 2/),
      details: { reason: 'over_budget', retry_after_s: expect.any(Number), until: expect.any(String) },
    });
    expect(await say(elsewhere)).toMatchObject({ message_id: expect.any(String) });
    expect(await member('chatty', 'loud')).toMatchObject({ throttled_until: expect.any(String) });
    expect((await member('chatty', 'quiet')).throttled_until).toBeUndefined();
    const told = await hub.event('floor:agent-throttled', ({ payload }) => payload.name === 'chatty');
    expect(told.payload).toMatchObject({ projectKey: 'loud', until: expect.any(String) });
    for (const person of [ada, hub.client]) {
      const people = await Promise.all(Array.from({ length: 20 }, () => say(person, 'loud')));
      expect(people.filter((one) => 'code' in one)).toEqual([]);
    }
    const replies = await chatty
      .call('floor:advise', { text: '@ada hello' })
      .catch((error: unknown) => error);
    expect(replies).toEqual(refusal('too_many_requests'));

    // What it said before a kill of the hub counts after it.
    await hub.kill('SIGKILL');
    await hub.start();
    expect(await member('chatty', 'loud')).toMatchObject({ throttled_until: expect.any(String) });
    const again = hub.as(chatty.secret);
    expect(await say(again)).toEqual(refusal('too_many_requests'));
    expect(await say(hub.as(elsewhere.secret))).toMatchObject({ message_id: expect.any(String) });
  });
});

describe('an agent that watches', () => {
  it('hears once of what it wants to hear of, also after a kill of the hub, and advises', async () => {
    await hub.client.call('floor:agent-add', {
      ...{ name: 'guard', watch: { kinds: ['prompt', 'failure'], words: ['SQL'] } },
    });
    const guard = await register(hub, 'guard', { project: 'gate' });
    await member('guard', 'gate');
    const { session_id: session } = await hub.client.call('floor:open', { project: 'gate', name: 'work' });
    const record = (payload: object) =>
      hub.client.call('floor:record', { session, payload: payload as never });
    await record({ hook_event_name: 'UserPromptSubmit', prompt: 'drop the sql table' });
    await record({ hook_event_name: 'UserPromptSubmit', prompt: 'make tea' });
    await record({ hook_event_name: 'Stop', last_assistant_message: 'sql done' });
    const inbox = () => guard.call('mail:inbox', { peek: true, limit: 200 });
    const [first] = await until(async () => {
      const { messages } = await inbox();
      return messages.length > 0 && messages;
    });
    expect(first).toMatchObject({ trust: 'hub', body: expect.stringContaining('- work: prompt of user:') });
    expect(first?.body).toContain('drop the sql table');
    expect(first?.body).not.toContain('tea');
    const advised = await guard.call('floor:advise', { session, text: 'Make a copy first.' });
    expect(advised).toMatchObject({ from: 'agent:guard', session_id: session });
    await hub.kill('SIGKILL');
    await hub.start();
    await record({ hook_event_name: 'UserPromptSubmit', prompt: 'sql again' });
    const { messages } = await until(async () => {
      const page = await inbox();
      return page.messages.some(({ body }) => body.includes('sql again')) && page;
    });
    expect(messages.filter(({ body }) => body.includes('drop the sql table'))).toHaveLength(1);
  });
});

describe('knowledge', () => {
  const folder = () => join(hub.dir, 'knowledge');

  it('is kept by the user, for everybody or one project, and read by agents in pieces', async () => {
    await hub.client.call('floor:knowledge-write', { path: 'sql/style.md', text: 'Lower case.' });
    await hub.client.call('floor:knowledge-write', {
      path: 'sql/style.md',
      text: 'Upper case.',
      project: 'lib',
    });
    const text = `${'ä€😀'.repeat(9000)}`;
    await hub.client.call('floor:knowledge-write', { path: 'long.txt', text });
    expect(statSync(join(folder(), 'shared/long.txt')).mode & 0o777).toBe(0o600);
    expect(statSync(join(folder(), 'shared')).mode & 0o777).toBe(0o700);
    const reader = await register(hub, 'reader', { project: 'lib' });
    expect(
      (await reader.call('floor:knowledge', {})).files.map(({ path, project }) => [path, project]),
    ).toEqual([
      ['long.txt', undefined],
      ['sql/style.md', undefined],
      ['sql/style.md', 'lib'],
    ]);
    expect(await reader.call('floor:knowledge-read', { path: 'sql/style.md' })).toMatchObject({
      ...{ text: 'Upper case.', project: 'lib' },
    });
    expect(await ada.call('floor:knowledge-read', { path: 'sql/style.md' })).toMatchObject({
      text: 'Lower case.',
    });
    let [read, from]: [string, number | undefined] = ['', 0];
    while (from !== undefined) {
      const piece: KnowledgeText = await reader.call('floor:knowledge-read', {
        path: 'long.txt',
        from,
        max_bytes: 1000,
      });
      expect(Buffer.byteLength(piece.text)).toBeLessThanOrEqual(1000);
      read += piece.text;
      from = piece.next;
    }
    expect(read).toBe(text);
    expect(readFileSync(join(folder(), 'projects/lib/sql/style.md'), 'utf8')).toBe('Upper case.');
    await hub.client.call('floor:knowledge-remove', { path: 'sql/style.md', project: 'lib' });
    expect(existsSync(join(folder(), 'projects/lib/sql/style.md'))).toBe(false);
    expect(await reader.call('floor:knowledge-read', { path: 'sql/style.md' })).toMatchObject({
      text: 'Lower case.',
    });
  });

  it.each([
    '../token',
    'a/../../token',
    '/etc/passwd',
    '.hidden',
    'a//b',
    'a/b/c/d/e',
    '',
    'x'.repeat(90),
    'a\0b',
    'dots./x',
  ])('refuses the path "%s"', async (path) => {
    for (const [action, params] of [
      ['floor:knowledge-read', { path }],
      ['floor:knowledge-write', { path, text: 'x' }],
      ['floor:knowledge-remove', { path }],
    ] as const)
      await expect(hub.client.call(action, params as never)).rejects.toMatchObject({
        code: 'invalid_arguments',
      });
  });

  it('follows no links, and takes nothing too large', async () => {
    const shared = join(folder(), 'shared');
    mkdirSync(shared, { recursive: true });
    symlinkSync(join(hub.dir, 'token'), join(shared, 'leak'));
    symlinkSync(hub.dir, join(shared, 'home'));
    writeFileSync(join(shared, 'binary'), Buffer.from([1, 0, 2]));
    for (const path of ['leak', 'home/token'])
      await expect(hub.client.call('floor:knowledge-read', { path })).rejects.toEqual(refusal('forbidden'));
    await expect(hub.client.call('floor:knowledge-write', { path: 'home/token', text: 'x' })).rejects.toEqual(
      refusal('forbidden'),
    );
    await expect(hub.client.call('floor:knowledge-write', { path: 'leak', text: 'x' })).rejects.toEqual(
      refusal('forbidden'),
    );
    await expect(hub.client.call('floor:knowledge-read', { path: 'binary' })).rejects.toEqual(
      refusal('conflict'),
    );
    await expect(hub.client.call('floor:knowledge-read', { path: 'none' })).rejects.toEqual(
      refusal('not_found'),
    );
    const files = (await hub.client.call('floor:knowledge', {})).files.map(({ path }) => path);
    expect(files).not.toContain('leak');
    expect(files.filter((path) => path.startsWith('home'))).toEqual([]);
    await expect(
      hub.client.call('floor:knowledge-write', { path: 'big', text: 'x'.repeat(262_145) }),
    ).rejects.toMatchObject({ code: 'invalid_arguments', message: expect.stringContaining('262144 bytes') });
  });
});
