import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Annotation, Client } from '@polyphony/protocol';
import Database from 'better-sqlite3';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { register } from './mail-ground.ts';
import { invited } from './people-ground.ts';
import { TestHub } from './test-hub.ts';
import { kindsOf, openWindow, recorded, wholeTimeline } from './timeline-ground.ts';

let hub: TestHub;
beforeAll(async () => {
  hub = await TestHub.start();
}, 60_000);
afterAll(() => hub[Symbol.asyncDispose]());

const found = async (query: string): Promise<number> =>
  (await hub.client.call('floor:search', { query })).results.length;

/** How often a word stands anywhere in the record, its index and its journal. */
function occurrences(word: string): number {
  const db = new Database(join(hub.dir, 'hub.db'), { readonly: true });
  try {
    const count = (sql: string) => (db.prepare(sql).pluck().get(`%${word}%`) as number) ?? 0;
    return (
      count('SELECT count(*) FROM timeline WHERE text LIKE ? ') +
      count('SELECT count(*) FROM captures WHERE CAST(raw AS TEXT) LIKE ?') +
      count('SELECT count(*) FROM annotations WHERE value LIKE ?') +
      count('SELECT count(*) FROM events WHERE payload LIKE ?')
    );
  } finally {
    db.close();
  }
}

describe('what is put away or forgotten', () => {
  it('is left out of search and cannot be joined while it is archived, and comes back', async () => {
    const { session, token, hook } = await openWindow(hub, 'put-away', 'attic');
    await hook('UserPromptSubmit', { prompt: 'a zebrafinch sings' });
    await recorded(hub, session.session_id, 2);
    expect(await found('zebrafinch')).toBe(1);
    await hub.client.call('project:archive', { project: 'attic' });
    expect(await found('zebrafinch')).toBe(0);
    expect((await hub.as(token).call('floor:status', {})).connected).toBe(false);
    await expect(hub.as(token).call('floor:join', { project: 'attic' })).rejects.toMatchObject({
      code: 'conflict',
      hint: expect.stringContaining('--undo'),
    });
    expect((await hub.client.call('project:list', { archived: true })).projects).toMatchObject([
      { name: 'attic' },
    ]);
    await hub.client.call('project:archive', { project: 'attic', undo: true });
    expect(await found('zebrafinch')).toBe(1);
    await hub.client.call('floor:archive', { session: session.session_id });
    expect(await found('zebrafinch')).toBe(0);
    await expect(
      hub.as(token).call('floor:join', { project: 'attic', session: session.slug }),
    ).rejects.toMatchObject({ code: 'conflict' });
    await hub.client.call('floor:archive', { session: session.session_id, undo: true });
    expect(await found('zebrafinch')).toBe(1);
  });

  it('is nowhere any more once it is deleted: not in search, timeline, captures or annotations', async () => {
    const word = 'quokkaberry';
    const one = await openWindow(hub, 'deletes-1', 'doomed');
    const two = await openWindow(hub, 'deletes-2', 'doomed');
    for (const { hook } of [one, two]) await hook('UserPromptSubmit', { prompt: `${word} for all` });
    for (const { session } of [one, two]) await recorded(hub, session.session_id, 2);
    const [, entry] = await wholeTimeline(hub, one.session.session_id);
    for (const kind of ['star', 'decision'] as const)
      await hub.client.call('floor:annotate', {
        ...{ session: one.session.session_id, entry: entry?.entry_id, kind },
        ...(kind === 'decision' && { value: word }),
      });
    expect(occurrences(word)).toBeGreaterThan(3);
    expect(await hub.client.call('floor:delete', { session: one.session.session_id })).toEqual({
      session_id: one.session.session_id,
      entries: 2,
    });
    expect(await found(word)).toBe(1);
    const agent = await register(hub, 'ann', { project: 'doomed' });
    expect(await hub.client.call('project:delete', { project: 'doomed' })).toEqual({
      ...{ project: 'doomed', sessions: 1, entries: 2 },
    });
    expect(await found(word)).toBe(0);
    expect(occurrences(word)).toBe(0);
    expect(readdirSync(join(hub.dir, 'journal', 'new'))).toEqual([]);
    await expect(hub.client.call('project:show', { project: 'doomed' })).rejects.toMatchObject({
      code: 'not_found',
    });
    // What hangs on the name lives on, and the name begins anew, empty.
    expect((await hub.client.call('mail:agents', { project: 'doomed' })).agents).toMatchObject([
      { agent_id: agent.id },
    ]);
    await expect(
      hub.client.call('project:rename', { project: 'attic', name: 'doomed' }),
    ).rejects.toMatchObject({
      code: 'conflict',
    });
    expect(await hub.client.call('project:create', { name: 'doomed' })).toMatchObject({ sessions: 0 });
    await two.hook('UserPromptSubmit', { prompt: `${word} again` });
    await hub.event(
      'agent:captured',
      ({ payload }) => payload.paneId === 'deletes-2' && payload.kind === 'prompt',
    );
    expect(await found(word)).toBe(0);
  });

  it('is what is older than its project keeps', async () => {
    const { session, hook } = await openWindow(hub, 'ages', 'young');
    await hook('UserPromptSubmit', { prompt: 'fresh marmalade' });
    await hub.client.call('floor:record', {
      ...{ session: session.session_id, at: '2020-01-01T00:00:00Z', event_id: 'old-1' },
      payload: { hook_event_name: 'UserPromptSubmit', prompt: 'old marmalade' },
    });
    await recorded(hub, session.session_id, 3);
    expect(kindsOf(await wholeTimeline(hub, session.session_id))).toEqual(['prompt', 'joined', 'prompt']);
    expect(await hub.client.call('project:retention', { project: 'young', days: 30 })).toMatchObject({
      retention_days: 30,
    });
    const { results } = await hub.client.call('floor:search', { query: 'marmalade' });
    expect(results.map(({ snippet }) => snippet)).toEqual(['fresh marmalade']);
    expect(await hub.client.call('floor:session', { session: session.session_id })).toMatchObject({
      ...{ prompts: 1, entries: 2 },
    });
    const kept = await hub.client.call('project:retention', { project: 'young', days: null });
    expect(kept).not.toHaveProperty('retention_days');
  });

  it('is not for programs in panes to decide', async () => {
    const pane = hub.as(await hub.paneToken('nosy'));
    const asked: readonly (readonly [string, object])[] = [
      ['project:delete', { project: 'young' }],
      ['project:archive', { project: 'young' }],
      ['project:retention', { project: 'young', days: 1 }],
      ['floor:delete', { session: 'x' }],
      ['floor:archive', { session: 'x' }],
    ];
    for (const [action, params] of asked)
      await expect(pane.call(action, params)).rejects.toMatchObject({ code: 'forbidden' });
  });
});

describe('what is said and asked on the floor', () => {
  it('takes an event once by its id, and from whom it must be', async () => {
    const { session, token } = await openWindow(hub, 'hands-over', 'words');
    const payload = {
      hook_event_name: 'Stop',
      last_assistant_message: 'done',
      tool_use_id: 'x',
      session_id: 'c',
    };
    const asked = { session: session.session_id, event_id: 'one', payload };
    const pane = hub.as(token);
    const first = await pane.call('floor:record', asked);
    expect(first).toMatchObject({ kind: 'answer', sender: 'agent:claude', text: 'done' });
    const again = await Promise.all([1, 2, 3].map(() => pane.call('floor:record', asked)));
    for (const one of again) expect(one).toEqual(first);
    const twice = [1, 2, 3].map(() => pane.call('floor:record', { ...asked, event_id: 'at-once' }));
    expect(new Set((await Promise.all(twice)).map(({ entry_id }) => entry_id)).size).toBe(1);
    expect(kindsOf(await wholeTimeline(hub, session.session_id))).toEqual(['joined', 'answer', 'answer']);
    for (const sender of ['user:ceo', 'agent:other'])
      await expect(pane.call('floor:record', { ...asked, event_id: 'two', sender })).rejects.toMatchObject({
        code: 'forbidden',
        message: expect.stringContaining('agent:claude'),
      });
    const stranger = hub.as(await hub.paneToken('stranger'));
    await expect(stranger.call('floor:record', asked)).rejects.toMatchObject({ code: 'forbidden' });
  });

  it('tells everybody a reply, in the name of the agent', async () => {
    const { session, token } = await openWindow(hub, 'replies', 'words');
    const pane = hub.as(token);
    await hub.client.call('floor:record', {
      ...{ session: session.session_id, payload: { hook_event_name: 'Stop', last_assistant_message: 'x' } },
    });
    expect(await pane.call('floor:reply', { message: 'half done' })).toMatchObject({
      ...{ kind: 'reply', sender: 'agent:claude', text: 'half done' },
    });
    const user = await hub.client.call('floor:reply', { message: 'go on', session: session.session_id });
    expect(user.sender).toMatch(/^user:/);
    await expect(hub.client.call('floor:reply', { message: 'to whom?' })).rejects.toMatchObject({
      code: 'conflict',
      hint: expect.any(String),
    });
  });

  it('says what changed since somebody last drove, and what a session is about, in bounded size', async () => {
    const { session, hook } = await openWindow(hub, 'drives', 'words');
    const name = session.session_id;
    const bash = (command: string, tool_use_id: string) => ({
      ...{ tool_name: 'Bash', tool_input: { command }, tool_use_id },
    });
    await hook('UserPromptSubmit', { prompt: 'mine' });
    await hook('PreToolUse', { tool_name: 'Edit', tool_input: { file_path: '/w/a.ts' }, tool_use_id: 'e1' });
    await hook('PostToolUse', {
      ...bash('git commit -m x', 'b1'),
      tool_response: { stdout: '[feature/basket 1a2b3c4] x\n 1 file changed' },
    });
    await hook('PostToolUse', {
      ...bash('gh pr create', 'b2'),
      tool_response: { stdout: 'https://github.com/o/shop/pull/17\n' },
    });
    await hook('PreToolUse', bash('npm publish', 'b3'));
    await hook('PermissionRequest', { tool_name: 'Bash', tool_input: { command: 'npm publish' } });
    await recorded(hub, name, 7);
    const story = await wholeTimeline(hub, name);
    const edit = story.find(({ text }) => text.startsWith('Edit'));
    await hub.client.call('floor:annotate', {
      ...{ session: name, entry: edit?.entry_id, kind: 'decision', value: 'baskets are lists' },
    });
    const changes = await hub.client.call('floor:changes', { session: name });
    expect(changes).toMatchObject({
      ...{ session_id: name, since: expect.any(String), drivers: [], prompts: [], files: ['/w/a.ts'] },
      open: [{ text: 'Bash: npm publish' }],
      decisions: [{ decision: 'baskets are lists' }],
    });
    expect(changes.links.map(({ kind, value }) => `${kind} ${value}`).toSorted()).toEqual([
      'branch feature/basket',
      'commit 1a2b3c4',
      'pull_request https://github.com/o/shop/pull/17',
    ]);
    const all = await hub.client.call('floor:changes', { session: name, after_seq: 0 });
    expect(all.prompts.map(({ text }) => text)).toEqual(['mine']);

    await hook('Stop', { last_assistant_message: 'x'.repeat(100_000) });
    await recorded(hub, name, 8);
    const context = await hub.client.call('floor:context', { session: name, max_bytes: 8000 });
    expect(JSON.stringify(context).length).toBeLessThan(9000);
    expect(context.entries.at(-1)?.kind).toBe('answer');
  });

  it('lists stars, tags and decisions, finds by tag, and takes them away', async () => {
    const { session, hook } = await openWindow(hub, 'marks', 'words');
    await hook('UserPromptSubmit', { prompt: 'platypus one' });
    await hook('UserPromptSubmit', { prompt: 'platypus two' });
    await recorded(hub, session.session_id, 3);
    const [, one] = await wholeTimeline(hub, session.session_id);
    const about = { session: session.slug, project: 'words', entry: one?.entry_id };
    const star = await hub.client.call('floor:annotate', { ...about, kind: 'star' });
    await hub.client.call('floor:annotate', { ...about, kind: 'tag', value: 'Idea' });
    await hub.client.call('floor:annotate', { ...about, kind: 'decision' });
    const [, marked] = await wholeTimeline(hub, session.session_id);
    expect(marked).toMatchObject({ starred: true, tags: ['idea'], decision: 'platypus one' });
    const tagged = await hub.client.call('floor:search', { query: 'platypus', tag: 'idea' });
    expect(tagged.results.map(({ entry }) => entry.text)).toEqual(['platypus one']);
    const { decisions } = await hub.client.call('floor:decisions', { project: 'words', limit: 1 });
    expect(decisions).toMatchObject([
      { slug: session.slug, project: 'words', entry: { text: 'platypus one' } },
    ]);
    await hub.client.call('floor:unannotate', { annotation: star.annotation_id });
    const { annotations } = await hub.client.call('floor:annotations', { session: session.session_id });
    expect(annotations.map(({ kind }) => kind)).toEqual(['tag', 'decision']);
    const refused: readonly (readonly [string, object, string])[] = [
      ['floor:annotate', { ...about, kind: 'tag', value: 'two words' }, 'invalid_arguments'],
      ['floor:annotate', { session: session.session_id, kind: 'decision' }, 'invalid_arguments'],
      ['floor:annotate', { ...about, entry: 'ent_0', kind: 'star' }, 'not_found'],
      ['floor:unannotate', { annotation: star.annotation_id }, 'not_found'],
      ['floor:search', { query: '***' }, 'invalid_arguments'],
      ['floor:timeline', { session: session.session_id, before: 'now' }, 'invalid_arguments'],
    ];
    for (const [action, params, code] of refused)
      await expect(hub.client.call(action, params)).rejects.toMatchObject({ code });
  });

  it('lets nobody take away what somebody else has marked, but who drives and the user', async () => {
    const { session, token } = await openWindow(hub, 'marker', 'marks');
    const other = hub.as(await hub.paneToken('passer-by'));
    const [ada, ben] = [await invited(hub, 'ada'), await invited(hub, 'ben')];
    const mark = async (by: Client): Promise<string> => {
      const about = { session: session.session_id, kind: 'decision', value: 'no' };
      return ((await by.call('floor:annotate', about)) as Annotation).annotation_id;
    };
    const remove = (by: Client, annotation: string) => by.call('floor:unannotate', { annotation });
    const refused = { code: 'forbidden', hint: expect.stringContaining('Ask ') };
    const agents = await mark(hub.as(token));
    const adas = await mark(ada);
    for (const by of [other, ben]) {
      await expect(remove(by, agents)).rejects.toMatchObject(refused);
      await expect(remove(by, adas)).rejects.toMatchObject(refused);
    }
    await expect(remove(hub.as(token), adas)).rejects.toMatchObject(refused);
    await remove(ada, adas);
    await hub.client.call('floor:handoff', { session: session.session_id, to: '@ben' });
    await remove(ben, agents);
    await remove(hub.client, await mark(ada));
    const { annotations } = await hub.client.call('floor:annotations', { session: session.session_id });
    expect(annotations).toEqual([]);
  });

  it('knows people and agents, those of mail and those who only have a session', async () => {
    await register(hub, 'mia', { project: 'crew', display_name: 'Mia Ü' });
    const { session } = await openWindow(hub, 'crewman', 'crew');
    await hub.client.call('floor:record', {
      ...{ session: session.session_id, vendor: 'codex', payload: { hook_event_name: 'Interrupt' } },
    });
    const { team } = await hub.client.call('floor:team', { project: 'crew' });
    expect(team).toMatchObject([
      { kind: 'person', participant: session.driver, sessions: [`crew/${session.slug}`] },
      { kind: 'agent', participant: 'agent:codex', sessions: [`crew/${session.slug}`] },
      { kind: 'agent', participant: 'agent:mia', display_name: 'Mia Ü', projects: ['crew'] },
    ]);
  });

  it('renames the project of the session that is fed', async () => {
    const { token } = await openWindow(hub, 'renamer', 'before');
    expect(await hub.as(token).call('floor:rename', { name: 'After' })).toMatchObject({
      ...{ key: 'before', name: 'After', earlier_names: ['before'] },
    });
    expect((await hub.as(token).call('floor:status', {})).line).toMatch(/^After\//);
  });
});
