import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { TestHub } from './test-hub.ts';
import { openWindow, recorded } from './timeline-ground.ts';

let hub: TestHub;
beforeAll(async () => {
  hub = await TestHub.start();
}, 60_000);
afterAll(() => hub[Symbol.asyncDispose]());

interface Told {
  readonly id: string;
  readonly seq: number;
  readonly session: string;
  readonly project: string;
  readonly sender: string;
  readonly source: string;
  readonly text: string;
  readonly payload: Readonly<Record<string, unknown>>;
}

const bearer = (token = hub.token) => ({ authorization: `Bearer ${token}` });

async function rest(method: 'GET' | 'POST' | 'DELETE', path: string, body?: unknown, token = hub.token) {
  const sent = await hub.send({
    ...{
      method,
      path,
      headers: { ...bearer(token), ...(body !== undefined && { 'content-type': 'application/json' }) },
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  } as Parameters<TestHub['send']>[0]);
  return { status: sent.status, body: JSON.parse(sent.body) };
}

/** What an SSE stream tells, as it comes; ends with the loop of its reader. */
async function* sse(path: string, headers: Record<string, string> = bearer()): AsyncGenerator<Told> {
  const sent = request({ socketPath: hub.socket, path, headers: { host: 'poly', ...headers } });
  sent.end();
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  expect(response.statusCode).toBe(200);
  let text = '';
  try {
    for await (const chunk of response.setEncoding('utf8')) {
      text += chunk;
      const frames = text.split('\n\n');
      text = frames.pop() ?? '';
      for (const frame of frames) {
        const [, data] = /^data: (.*)$/m.exec(frame) ?? [];
        if (data) yield JSON.parse(data) as Told;
      }
    }
  } finally {
    response.destroy();
  }
}

async function take(stream: AsyncGenerator<Told>, count: number): Promise<readonly Told[]> {
  const found: Told[] = [];
  for await (const event of stream) {
    found.push(event);
    if (found.length === count) break;
  }
  return found;
}

/** What a WebSocket tells, until there is so much. */
async function hear(
  path: string,
  count: number,
  headers: Record<string, string> = bearer(),
): Promise<readonly Told[]> {
  const client = new WebSocket(`ws+unix:${hub.socket}:${path}`, { headers: { host: 'poly', ...headers } });
  const found: Told[] = [];
  const { promise, resolve, reject } = Promise.withResolvers<readonly Told[]>();
  client.on('message', (data) => {
    found.push(JSON.parse(String(data)) as Told);
    if (found.length === count) resolve(found);
  });
  client.on('error', reject);
  client.on('close', () => reject(new Error('closed')));
  try {
    return await promise;
  } finally {
    client.terminate();
  }
}

const prompt = (text: string) => ({ payload: { hook_event_name: 'UserPromptSubmit', prompt: text } });

describe('the routes of Polaris', () => {
  it('make, list, show and rename projects and sessions, with names of any script', async () => {
    const name = 'Größe-東京';
    const path = `/projects/${encodeURIComponent(name)}`;
    expect(await rest('POST', '/projects', { name })).toMatchObject({ status: 201, body: { name } });
    expect(await rest('POST', '/projects', { name })).toMatchObject({ status: 409 });
    expect(await rest('POST', '/projects', {})).toMatchObject({ status: 400 });
    expect(await rest('GET', path)).toMatchObject({ status: 200, body: { name } });
    expect((await rest('GET', '/projects')).body).toContainEqual(expect.objectContaining({ name }));
    expect(await rest('POST', `${path}/sessions`, { name: 'Entwürfe' })).toMatchObject({
      ...{ status: 201, body: { slug: 'Entwürfe', project: name } },
    });
    expect(await rest('POST', `${path}/sessions`, { name: 'entwürfe' })).toMatchObject({ status: 409 });
    expect(await rest('POST', `${path}/sessions`, { driver: 'user:ceo' })).toMatchObject({ status: 403 });
    expect((await rest('POST', `${path}/sessions`, {})).body.slug).toMatch(/^s-[0-9a-f]{4}$/);
    expect((await rest('GET', `${path}/sessions`)).body).toHaveLength(2);
    const session = `${path}/sessions/${encodeURIComponent('Entwürfe')}`;
    expect(await rest('GET', session)).toMatchObject({ body: { slug: 'Entwürfe' } });
    expect(await rest('POST', `${session}/label`, { label: 'Skizzen' })).toMatchObject({
      body: { label: 'Skizzen' },
    });
    expect(await rest('POST', `${path}/rename`, { name: 'size' })).toEqual({
      ...{ status: 200, body: { status: 'renamed', oldName: name, newName: 'size' } },
    });
    for (const known of [path, '/projects/size']) {
      const { status, body } = await rest('GET', `${known}/sessions/${encodeURIComponent('Entwürfe')}`);
      expect([status, body.project]).toEqual([200, 'size']);
    }
    expect(await rest('GET', '/projects/nowhere')).toMatchObject({ status: 404 });
    expect(await rest('GET', '/projects/%E0%A4%A')).toMatchObject({ status: 400 });
    expect(await rest('POST', '/projects/nowhere/rename', { name: 'x' })).toMatchObject({ status: 404 });
    expect(await rest('POST', `${path}/rename`, { name: 'a b' })).toMatchObject({ status: 400 });
  });

  it('take events as hooks tell them, each once by its id, from whom they are', async () => {
    await rest('POST', '/projects', { name: 'intake' });
    await rest('POST', '/projects/intake/sessions', { name: 'one' });
    const events = '/projects/intake/sessions/one/events';
    const first = await rest('POST', events, { ...prompt('hello'), event_id: 'e1' });
    expect(first).toMatchObject({ status: 201, body: { kind: 'prompt', text: 'hello' } });
    expect((await rest('POST', events, { ...prompt('hello'), event_id: 'e1' })).body).toEqual(first.body);
    expect(await rest('POST', events, { ...prompt('x'), sender: 'user:ceo' })).toMatchObject({ status: 403 });
    expect(await rest('POST', events, { ...prompt('x'), sender: first.body.sender })).toMatchObject({
      status: 201,
    });
    const future = { hook_event_name: 'NotYetKnown', deep: { er: ['x'] } };
    expect(await rest('POST', events, { payload: future })).toMatchObject({ status: 201 });
    const tool = {
      ...{
        hook_event_name: 'PostToolUse',
        tool_name: 'Bash',
        tool_input: { command: 'ls' },
        tool_use_id: 'tu',
      },
      ...{ tool_response: { stdout: 'a\u0000b \ud800' }, duration_ms: 7, prompt_id: 'p', agent_id: 'a' },
    };
    expect(await rest('POST', events, { payload: tool })).toMatchObject({ status: 201 });
    const { body } = await rest('GET', `${events}?limit=10`);
    expect(body.events.map(({ payload }: Told) => payload.hook_event_name)).toEqual([
      ...['PostToolUse', 'NotYetKnown', 'UserPromptSubmit', 'UserPromptSubmit'],
    ]);
    expect(body.events[0].payload).toMatchObject({
      tool_use_id: 'tu',
      duration_ms: 7,
      prompt_id: 'p',
      agent_id: 'a',
    });
    expect(body.events[1].payload).toEqual(future);
    expect(body.nextCursor).toBeNull();
    expect(await rest('POST', events, { payload: 'no object' })).toMatchObject({ status: 400 });
    expect(await rest('POST', events.replace('one', 'none'), prompt('x'))).toMatchObject({ status: 404 });
  });

  it('page back through events, and refuse cursors that are none', async () => {
    const events = '/projects/intake/sessions/paged/events';
    await rest('POST', '/projects/intake/sessions', { name: 'paged' });
    for (const text of ['1', '2', '3', '4', '5']) await rest('POST', events, prompt(text));
    const seen: string[] = [];
    for (let cursor: string | null = ''; cursor !== null; ) {
      const { body } = await rest('GET', `${events}?limit=2${cursor && `&before=${cursor}`}`);
      seen.push(...body.events.map(({ text }: Told) => text));
      cursor = body.nextCursor;
    }
    expect(seen).toEqual(['5', '4', '3', '2', '1']);
    const messages = await rest('GET', '/projects/intake/sessions/paged/messages');
    expect(messages.body.map(({ text }: Told) => text)).toEqual(['1', '2', '3', '4', '5']);
    for (const query of ['before=x', 'before=2026-01-01|uuid', 'limit=0', 'limit=501', 'limit=x', 'since=x'])
      expect(await rest('GET', `${events}?${query}`)).toMatchObject({ status: 400 });
  });

  it('take nothing from a page of another site, nor what is no JSON', async () => {
    const send = (headers: Record<string, string>) =>
      hub.send({
        method: 'POST',
        path: '/projects',
        headers: { ...bearer(), ...headers },
        body: '{"name":"forged"}',
      });
    const json = { 'content-type': 'application/json' };
    expect((await send({ ...json, origin: 'https://evil.example' })).status).toBe(403);
    expect((await send({ ...json, 'sec-fetch-site': 'cross-site' })).status).toBe(403);
    expect((await send({ 'content-type': 'text/plain' })).status).toBe(415);
    expect(await rest('GET', '/projects/forged')).toMatchObject({ status: 404 });
  });

  it('refuse what cannot be stored, is nothing, or has not happened yet, whatever part of it that is', async () => {
    await hub.client.call('floor:open', { project: 'odd', name: 'one' });
    const inject = (content: string) => rest('POST', '/projects/odd/sessions/one/inject', { content });
    const refusals = [
      await rest('GET', '/search?q=a%00b'),
      await rest('GET', '/search?q=a&sender=%00'),
      await rest('POST', '/action/floor:entry', { entry: 'a\0b' }),
      await rest('POST', '/projects/odd/sessions/one/annotations', { kind: 'star', event_id: 'a\0b' }),
      await rest('POST', '/action/approval:resolve', { id: 'a\0b', decision: 'allow' }),
      await rest('POST', '/action/mail:threads', { query: 'a\0b' }),
      await inject('a\0b'),
      await inject('\ud800'),
      await inject(' \n\t '),
    ];
    for (const { status, body } of refusals)
      expect([status, body.error.code]).toEqual([400, 'invalid_arguments']);
    const at = '9999-12-31T23:59:59Z';
    const payload = { hook_event_name: 'Notification', message: 'soon' };
    const told = await rest('POST', '/projects/odd/sessions/one/events', { payload, at });
    expect(Date.parse(told.body.at)).toBeLessThanOrEqual(Date.now());
  });

  it('search, annotate, list decisions and the team', async () => {
    await rest('POST', '/projects/intake/sessions', { name: 'marked' });
    const session = '/projects/intake/sessions/marked';
    const { body: event } = await rest(
      'POST',
      `${session}/events`,
      prompt('the <script>alert(1)</script> wombat'),
    );
    const star = await rest('POST', `${session}/annotations`, { kind: 'star', event_id: event.entry_id });
    expect(star.status).toBe(201);
    const decision = { kind: 'decision', event_id: event.entry_id, value: 'wombats stay' };
    expect(await rest('POST', `${session}/annotations`, decision)).toMatchObject({ status: 201 });
    expect((await rest('GET', `${session}/annotations`)).body.annotations).toHaveLength(2);
    expect(await rest('DELETE', `/annotations/${star.body.annotation_id}`)).toMatchObject({ status: 200 });
    expect(await rest('DELETE', '/annotations/not-one')).toMatchObject({ status: 400 });
    expect((await rest('GET', '/decisions?project=intake&limit=5')).body.decisions).toMatchObject([
      { value: 'wombats stay' },
    ]);
    const { body } = await rest('GET', '/search?q=wombat&project=intake&limit=3');
    expect(body.results).toMatchObject([{ slug: 'marked', snippet: 'the <script>alert(1)</script> wombat' }]);
    for (const query of ['', 'q=', 'q=x&limit=0', 'q=x&limit=many', 'q=x&what=else', 'q=x&project=a%20b'])
      expect(await rest('GET', `/search?${query}`)).toMatchObject({ status: 400 });
    expect((await rest('GET', '/team')).body.team[0]).toMatchObject({ kind: 'person' });
  });
});

describe('streams', () => {
  it('tell what happens over SSE and WebSocket, and go on behind a cursor without a gap', async () => {
    const { session, hook } = await openWindow(hub, 'streamer', 'live');
    const path = `/projects/live/sessions/${session.slug}`;
    const all = take(sse(`${path}/events?since=0`), 4);
    const socket = hear(`/projects/live/ws?since=0`, 4);
    for (const text of ['one', 'two', 'three']) await hook('UserPromptSubmit', { prompt: text });
    const told = await all;
    expect(told.map(({ source, text }) => [source, text])).toEqual([
      ['floor', 'agent:streamer joined.'],
      ['hook', 'one'],
      ['hook', 'two'],
      ['hook', 'three'],
    ]);
    expect(await socket).toEqual(told);
    const again = await take(
      sse(`${path}/events`, { ...bearer(), 'last-event-id': String(told[1]?.seq) }),
      2,
    );
    expect(again).toEqual(told.slice(2));
    expect(await hear(`${path}/ws?since=${told[2]?.seq}`, 1)).toEqual(told.slice(3));
  });

  it('go on under the name that a project gets, and cross over to no other', async () => {
    const [a, b] = [await openWindow(hub, 'stream-a', 'alpha'), await openWindow(hub, 'stream-b', 'beta')];
    const heard = take(sse('/projects/alpha/events?since=0'), 3);
    await hub.client.call('project:rename', { project: 'alpha', name: 'omega' });
    await hub.client.call('project:create', { name: 'unrelated' });
    await b.hook('UserPromptSubmit', { prompt: 'not yours' });
    await recorded(hub, b.session.session_id, 2);
    await a.hook('UserPromptSubmit', { prompt: 'first' });
    await recorded(hub, a.session.session_id, 2);
    const [, first] = (await rest('GET', `/projects/alpha/sessions/${a.session.slug}/messages`))
      .body as Told[];
    const kept = { kind: 'star', event_id: first?.id };
    expect(await rest('POST', `/projects/alpha/sessions/${a.session.slug}/annotations`, kept)).toMatchObject({
      status: 201,
    });
    const put = await rest('GET', `/projects/omega/sessions/${a.session.slug}/annotations`);
    expect(put.body.annotations).toMatchObject([{ entry_id: first?.id }]);
    const late = take(sse('/projects/omega/events?since=0'), 3);
    await a.hook('UserPromptSubmit', { prompt: 'second' });
    for (const told of [await heard, await late])
      expect(told.map(({ text }) => text).slice(1)).toEqual(['first', 'second']);
  });

  it('give nobody anything who shows no credential, and refuse before the first frame', async () => {
    const paths = [
      ...['/projects', '/projects/live', '/projects/live/events', '/projects/live/messages'],
      ...['/projects/live/sessions', '/projects/live/sessions/x', '/projects/live/sessions/x/events'],
      ...['/projects/live/sessions/x/messages', '/projects/live/sessions/x/annotations'],
      ...['/decisions', '/search?q=x', '/team'],
    ];
    for (const path of paths)
      expect([path, (await hub.send({ method: 'GET', path, headers: {} })).status]).toEqual([path, 401]);
    for (const path of ['/projects/live/ws', '/projects/live/sessions/x/ws'])
      for (const [headers, status] of [
        [{}, 401],
        [bearer('wrong'), 401],
      ] as const) {
        await expect(hear(path, 1, headers)).rejects.toThrow(String(status));
      }
    await expect(hear('/projects/nowhere/ws', 1)).rejects.toThrow('404');
    await expect(hear('/projects/live/ws?since=x', 1)).rejects.toThrow('400');
  });

  it('tell nothing of what was deleted, however often it was read before', async () => {
    await hub.client.call('floor:open', { project: 'gone', name: 'kept' });
    await hub.client.call('floor:open', { project: 'gone', name: 'secret' });
    for (const session of ['secret', 'kept'])
      await hub.client.call('floor:reply', { project: 'gone', session, message: `told in ${session}` });
    const all = () => sse('/projects/gone/events?since=0');
    expect((await take(all(), 2)).map(({ text }) => text)).toEqual(['told in secret', 'told in kept']);
    await hub.client.call('floor:delete', { project: 'gone', session: 'secret' });
    expect((await take(all(), 1)).map(({ text }) => text)).toEqual(['told in kept']);
  });

  it('end with the credential of a pane', async () => {
    const { token } = await openWindow(hub, 'watcher', 'live');
    const ended = (async () => {
      const seen: string[] = [];
      for await (const { text } of sse('/projects/live/events?since=0', bearer(token))) seen.push(text);
      return seen.length;
    })();
    const { ticket } = await hub.as(token).ticket('events');
    const [byTicket] = await take(sse(`/projects/live/events?since=0&ticket=${ticket}`, {}), 1);
    expect(byTicket?.project).toBe('live');
    await hub.client.call('pane:close', { paneId: 'watcher' });
    expect(await ended).toBeGreaterThan(0);
  });
});
