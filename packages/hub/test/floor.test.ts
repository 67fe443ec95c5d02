import type { Client } from '@polyphony/protocol';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { register } from './mail-ground.ts';
import { TestHub } from './test-hub.ts';

let hub: TestHub;
let client: Client;
beforeAll(async () => {
  hub = await TestHub.start();
  client = hub.client;
}, 60_000);
afterAll(() => hub[Symbol.asyncDispose]());

const refusal = (code: string) => expect.objectContaining({ code, hint: expect.any(String) });
const paneOf = async (id: string): Promise<Client> => hub.as(await hub.paneToken(id));

describe('projects', () => {
  it('are made, listed, shown and tagged, and a name is taken once', async () => {
    const made = await client.call('project:create', { name: 'Straße', tags: ['Data', 'web'] });
    expect(made).toMatchObject({ key: 'straße', name: 'Straße', tags: ['data', 'web'], sessions: 0 });
    await expect(client.call('project:create', { name: 'STRAßE' })).rejects.toEqual(refusal('conflict'));
    expect(await client.call('project:show', { project: 'straße' })).toEqual(made);
    const tagged = await client.call('project:tag', { project: 'Straße', add: ['x'], remove: ['web'] });
    expect(tagged.tags).toEqual(['data', 'x']);
    const { projects } = await client.call('project:list', { tag: 'X' });
    expect(projects.map(({ name }) => name)).toEqual(['Straße']);
    await expect(client.call('project:show', { project: 'nowhere' })).rejects.toEqual(refusal('not_found'));
    await expect(client.call('project:create', { name: 'no spaces' })).rejects.toEqual(
      expect.objectContaining({ code: 'invalid_arguments' }),
    );
  });

  it('exist once mail, a task or a contract names them', async () => {
    await register(hub, 'ann', { project: 'by-mail' });
    await client.call('task:add', { title: 'x', project: 'by-task' });
    await client.call('contract:register', {
      name: 'api',
      project: 'by-contract',
      schema: { type: 'object' },
    });
    for (const name of ['by-mail', 'by-task', 'by-contract'])
      expect(await client.call('project:show', { project: name })).toMatchObject({ name });
  });

  it('keep mail, tasks, contracts and sessions under a new name, and the old names lead there', async () => {
    const [ann, ben] = [
      await register(hub, 'ann', { project: 'Old' }),
      await register(hub, 'ben', { project: 'old' }),
    ];
    await client.call('task:add', { title: 'paint', project: 'OLD' });
    await client.call('contract:register', { name: 'api', project: 'old', schema: { type: 'object' } });
    const { session_id } = await client.call('floor:open', { project: 'old', name: 'design' });
    const renamed = await client.call('project:rename', { project: 'old', name: 'New' });
    expect(renamed).toMatchObject({ key: 'old', name: 'New', earlier_names: ['Old'] });
    await client.call('project:rename', { project: 'old', name: 'Newest' });

    for (const name of ['old', 'new', 'NEWEST']) {
      const { agents } = await client.call('mail:agents', { project: name });
      expect(agents.map((one) => [one.name, one.project])).toEqual([
        ['ann', 'Newest'],
        ['ben', 'Newest'],
      ]);
      const { tasks } = await client.call('task:list', { project: name });
      expect(tasks.map(({ title, project }) => [title, project])).toEqual([['paint', 'Newest']]);
      expect(await client.call('contract:get', { project: name, name: 'api' })).toMatchObject({
        project: 'Newest',
        version: 1,
      });
      expect(await client.call('floor:session', { project: name, session: 'design' })).toMatchObject({
        session_id,
        project: 'Newest',
      });
      await client.call('mail:send', { to_agent_name: 'ben', to_project: name, body: `by ${name}` });
    }
    await ann.call('mail:send', { to_agent_name: 'ben', body: 'as before' });
    expect((await ben.read()).map(({ body }) => body)).toEqual([
      'by old',
      'by new',
      'by NEWEST',
      'as before',
    ]);
    expect(
      (await client.call('mail:register', { name: 'ann', project: 'newest', secret: ann.secret })).agent_id,
    ).toBe(ann.id);
    // A name that a project ever had stays its own.
    await client.call('project:create', { name: 'other' });
    for (const name of ['old', 'new', 'newest'])
      await expect(client.call('project:rename', { project: 'other', name })).rejects.toEqual(
        refusal('conflict'),
      );
    await expect(client.call('project:create', { name: 'new' })).rejects.toThrow(/called "Newest" now/);
  });
});

describe('sessions', () => {
  it('are joined from a pane, again and elsewhere, and left', async () => {
    const pane = await paneOf('joiner');
    expect(await pane.call('floor:status', {})).toEqual({
      ...{ connected: false, you: 'agent:joiner', owner: false, line: '' },
    });
    const { status, session, hint } = await pane.call('floor:join', { project: 'shop', label: 'The basket' });
    expect(status).toBe('created');
    expect(hint).toContain('drives it');
    expect(session).toMatchObject({
      ...{ slug: expect.stringMatching(/^s-[0-9a-f]{4}$/), project: 'shop', label: 'The basket' },
      ...{
        bindings: [{ pane: 'joiner' }],
        created_by: 'agent:joiner',
        driver: expect.stringMatching(/^user:/),
      },
    });
    const again = await pane.call('floor:join', { project: 'shop' });
    expect([again.status, again.session.session_id]).toEqual(['again', session.session_id]);
    const other = await pane.call('floor:join', { project: 'shop', session: 'design' });
    expect([other.status, other.session.slug]).toEqual(['created', 'design']);
    expect((await pane.call('floor:status', {})).line).toMatch(/^shop\/design · user:/);
    const { sessions } = await client.call('floor:sessions', { project: 'shop', live: true });
    expect(sessions.map(({ slug }) => slug)).toEqual(['design']);
    expect((await pane.call('floor:leave', {})).session).toMatchObject({ slug: 'design', bindings: [] });
    expect(await pane.call('floor:leave', {})).toEqual({});
    expect((await pane.call('floor:status', {})).connected).toBe(false);
  });

  it('are joined by the user for a pane, or for a conversation that is in none', async () => {
    await hub.paneToken('watched');
    const joined = await client.call('floor:join', { project: 'shop', pane: 'watched', agent: 'Dean' });
    expect(joined.session).toMatchObject({ agent: 'agent:dean', bindings: [{ pane: 'watched' }] });
    const elsewhere = { vendor: 'claude', conversation: 'c0ffee' };
    const { session } = await client.call('floor:join', { project: 'shop', ...elsewhere });
    expect(session).toMatchObject({ agent: 'agent:claude', bindings: [elsewhere] });
    const status = await client.call('floor:status', { ...elsewhere });
    expect(status.session?.session_id).toBe(session.session_id);
  });

  it('refuse what cannot be, and say what to do', async () => {
    const pane = await paneOf('refused');
    const refused: readonly (readonly [() => Promise<unknown>, string])[] = [
      [() => client.call('floor:join', { project: 'shop' }), 'invalid_arguments'],
      [() => client.call('floor:join', { project: 'shop', pane: 'nobody' }), 'not_found'],
      [() => client.call('floor:join', { project: 'shop', conversation: 'x' }), 'invalid_arguments'],
      [() => pane.call('floor:join', { project: 'shop', pane: 'watched' }), 'forbidden'],
      [() => pane.call('floor:join', { project: 'shop', vendor: 'claude', conversation: 'x' }), 'forbidden'],
      [() => pane.call('floor:join', { project: 'shop', session: 'ses_0123456789abcdef' }), 'not_found'],
      [() => client.call('floor:open', { project: 'shop', name: 'Design' }), 'conflict'],
      [() => client.call('floor:session', { session: 'nowhere' }), 'not_found'],
    ];
    for (const [asked, code] of refused) await expect(asked()).rejects.toEqual(refusal(code));
  });

  it('are known again by the next hub, bindings and names too', async () => {
    const token = await hub.paneToken('survivor');
    const { session } = await hub.as(token).call('floor:join', { project: 'lasting' });
    await client.call('project:rename', { project: 'lasting', name: 'kept' });
    await hub.kill('SIGKILL');
    await hub.start();
    const status = await hub.as(token).call('floor:status', {});
    expect(status.session).toMatchObject({ session_id: session.session_id, project: 'kept' });
    const again = await hub.as(token).call('floor:join', { project: 'lasting' });
    expect([again.status, again.session.slug]).toEqual(['again', session.slug]);
  });

  it('answer a repeated join as the first', async () => {
    const token = await hub.paneToken('repeats');
    const ask = () =>
      hub.send({
        ...{ method: 'POST', path: '/action/floor:join', body: '{"project":"repeated"}' },
        headers: {
          ...{ authorization: `Bearer ${token}`, 'content-type': 'application/json' },
          'idempotency-key': 'join-1',
        },
      });
    const [first, second] = [await ask(), await ask()];
    expect([first.status, second.body]).toEqual([200, first.body]);
  });
});
