import { connect } from 'node:net';
import type { PtySession } from '@polyphony/protocol';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { TestHub, until } from './test-hub.ts';

let hub: TestHub;
beforeAll(async () => {
  hub = await TestHub.start();
});
afterAll(() => hub[Symbol.asyncDispose]());

async function rest(
  method: string,
  path: string,
  body?: unknown,
  token: string = hub.token,
  more: Readonly<Record<string, string>> = {},
) {
  const text = body === undefined ? undefined : JSON.stringify(body);
  const type = text && { 'content-type': 'application/json' };
  const headers = { authorization: `Bearer ${token}`, ...type, ...more };
  const answer = await hub.send({ method, path, headers, ...(text && { body: text }) } as never);
  return { status: answer.status, value: JSON.parse(answer.body) };
}

const start = async (command: string, ...args: string[]): Promise<PtySession> =>
  (await rest('POST', '/api/sessions', { command, args, description: 'for a test' })).value;
const session = async (id: string): Promise<PtySession> => (await rest('GET', `/api/sessions/${id}`)).value;

describe('/api/sessions', () => {
  it('starts, shows and lists what runs in pty panes', async () => {
    const made = await start('sh', '-c', 'echo one; printf two; exit 3');
    expect(made).toMatchObject({
      title: 'sh -c echo one; printf two; exit 3',
      description: 'for a test',
      command: 'sh',
      args: ['-c', 'echo one; printf two; exit 3'],
      workdir: hub.home,
    });
    const ended = await until(async () => {
      const now = await session(made.id);
      return now.status !== 'running' && now;
    });
    expect(ended).toMatchObject({ status: 'exited', exitCode: 3, exitSignal: null, lineCount: 2 });
    expect((await rest('GET', '/api/sessions')).value).toContainEqual(ended);
    expect((await rest('GET', `/api/sessions/${made.id}/buffer/plain`)).value).toEqual({
      plain: 'one\ntwo',
      byteLength: 7,
    });
    expect((await rest('GET', `/api/sessions/${made.id}/buffer/raw`)).value).toEqual({
      raw: 'one\r\ntwo',
      byteLength: 8,
    });
  });

  it('counts bytes, of characters and of what is none', async () => {
    const { id } = await start('printf', '\\303\\266l\\342\\202\\254 \\377');
    await until(async () => (await session(id)).status === 'exited');
    const buffer = async (view: string) => (await rest('GET', `/api/sessions/${id}/buffer/${view}`)).value;
    expect(await buffer('raw')).toEqual({ raw: 'öl€ \ufffd', byteLength: 8 });
    expect((await buffer('plain')).plain).toBe('öl€ \ufffd');
    await rest('DELETE', '/api/sessions');
  });

  it('types, kills and forgets, and calls killed only what is dead', async () => {
    const { id } = await start(
      'sh',
      '-c',
      'trap "" TERM HUP; echo ready; while :; do read line; echo "got $line"; done',
    );
    const plain = async (): Promise<string> =>
      (await rest('GET', `/api/sessions/${id}/buffer/plain`)).value.plain;
    await until(async () => (await plain()).includes('ready'));
    expect(await rest('POST', `/api/sessions/${id}/input`, { data: 'hello\r' })).toEqual({
      status: 200,
      value: { success: true },
    });
    await until(async () => (await plain()).includes('got hello'));
    expect((await rest('DELETE', `/api/sessions/${id}`)).value).toEqual({ success: true });
    expect(await session(id)).toMatchObject({ status: 'killed', exitCode: null, exitSignal: 'SIGKILL' });
    const late = await rest('POST', `/api/sessions/${id}/input`, { data: 'x' });
    expect([late.status, late.value.error.code]).toEqual([409, 'pane_exited']);
    expect((await rest('DELETE', `/api/sessions/${id}/cleanup`)).status).toBe(200);
    expect((await rest('GET', `/api/sessions/${id}`)).status).toBe(404);
  });

  it('ends them all at once', async () => {
    await start('cat');
    await start('cat');
    expect((await rest('DELETE', '/api/sessions')).status).toBe(200);
    expect((await rest('GET', '/api/sessions')).value).toEqual([]);
  });

  it('ends them all under one key, and with a repeat none that came later', async () => {
    await start('cat');
    await start('cat');
    const endAll = (key: string) =>
      rest('DELETE', '/api/sessions', undefined, hub.token, { 'idempotency-key': key });
    expect(await endAll('all')).toMatchObject({ status: 200, value: { success: true } });
    expect((await rest('GET', '/api/sessions')).value).toEqual([]);
    const { id } = await start('cat');
    expect(await endAll('all')).toMatchObject({ status: 200, value: { success: true } });
    expect(await session(id)).toMatchObject({ status: 'running' });
    expect((await endAll('all of them')).status).toBe(200);
    expect((await rest('GET', '/api/sessions')).value).toEqual([]);
  });

  it('answers the repeat of a key as the first time, also when the session has gone', async () => {
    const { id } = await start('cat');
    const forget = (key: string) =>
      rest('DELETE', `/api/sessions/${id}/cleanup`, undefined, hub.token, { 'idempotency-key': key });
    expect(await forget('once')).toEqual({ status: 200, value: { success: true } });
    expect((await rest('GET', `/api/sessions/${id}`)).status).toBe(404);
    expect(await forget('once')).toEqual({ status: 200, value: { success: true } });
    const other = await forget('another');
    expect([other.status, other.value.error.message]).toEqual([404, `there is no session "${id}".`]);
  });

  it('ends no pane of tmux, with or without a key', async () => {
    await hub.client.call('session:start', {});
    const { id } = await hub.client.call('pane:new', { argv: ['cat'], backend: 'tmux' });
    for (const more of [undefined, { 'idempotency-key': 'tmux' }])
      expect((await rest('DELETE', `/api/sessions/${id}`, undefined, hub.token, more)).status).toBe(404);
    const panes = await hub.client.call('pane:list', {});
    expect(panes.find((pane) => pane.id === id)).toMatchObject({ status: 'running' });
    await hub.client.call('pane:close', { paneId: id });
    await hub.client.call('session:stop', {});
  });

  it('ends those of a pane with the pane itself, and asks nobody', async () => {
    const token = await hub.paneToken('parent');
    const made = await rest('POST', '/api/sessions', { command: 'cat' }, token);
    const { id: other } = await start('cat');
    void rest('DELETE', '/api/sessions', undefined, token).catch(() => undefined); // It ends with its caller.
    await until(async () => (await rest('GET', '/api/sessions/parent')).status === 404);
    expect((await rest('GET', `/api/sessions/${made.value.id}`)).status).toBe(404);
    expect(await session(other)).toMatchObject({ status: 'running' });
    expect((await hub.client.call('approval:list', {})).approvals).toEqual([]);
    await rest('DELETE', '/api/sessions');
  });

  it('says what is wrong, and makes nothing of it', async () => {
    const outcomes = await Promise.all([
      rest('POST', '/api/sessions', { command: '/no/such/program' }),
      rest('POST', '/api/sessions', { command: 'cat', workdir: '/no/such/folder' }),
      rest('POST', '/api/sessions', {}),
      rest('POST', '/api/sessions', { command: 'cat', colour: 'red' }),
      rest('POST', '/api/sessions', { command: 'cat', cols: 0 }),
      rest('GET', '/api/sessions/pty_none'),
      rest('DELETE', '/api/sessions/pty_none'),
      rest('POST', '/api/sessions/pty_none/input', { data: 'x' }),
      rest('PUT', '/api/sessions', {}),
      rest('GET', '/api/sessions/pty_none/buffer/other'),
      rest('GET', '/api/sessions', undefined, 'wrong'),
    ]);
    expect(outcomes.map(({ status, value }) => [status, value.error.code])).toEqual([
      [422, 'spawn_failed'],
      [422, 'spawn_failed'],
      [400, 'invalid_arguments'],
      [400, 'invalid_arguments'],
      [400, 'invalid_arguments'],
      [404, 'not_found'],
      [404, 'not_found'],
      [404, 'not_found'],
      [405, 'method_not_allowed'],
      [404, 'unknown_route'],
      [401, 'unauthenticated'],
    ]);
    expect(outcomes.slice(2, 5).map(({ value }) => value.error.message)).toEqual([
      'the body: command is missing: it must be text.',
      expect.stringMatching(/^the body: "colour" is unknown: it takes command, args, .* and rows\.$/),
      'pane:new: cols must be 2 to 1000, not 0.',
    ]);
    expect((await rest('GET', '/api/sessions')).value).toEqual([]);
  });

  it('shows a pane nobody else’s sessions', async () => {
    const { id } = await start('sh', '-c', 'echo "token $POLY_TOKEN"; cat');
    const other = await start('cat');
    const token = await until(async () => {
      const { plain } = (await rest('GET', `/api/sessions/${id}/buffer/plain`)).value;
      return /token (\S+)/.exec(plain)?.[1];
    });
    const seen = (await rest('GET', '/api/sessions', undefined, token)).value as readonly PtySession[];
    expect(seen.map((one) => one.id)).toEqual([id]);
    expect((await rest('GET', `/api/sessions/${other.id}`, undefined, token)).status).toBe(404);
    await rest('DELETE', '/api/sessions', undefined, token);
    expect((await session(other.id)).status).toBe('running');
    await rest('DELETE', '/api/sessions');
  });
});

type Message = { readonly type: string } & Record<string, unknown>;

/** A client that keeps all it hears. */
class Client {
  readonly socket: WebSocket;
  readonly heard: Message[] = [];
  readonly frames: Buffer[] = [];

  constructor(token: string = hub.token) {
    this.socket = new WebSocket('ws://poly/ws', {
      createConnection: () => connect(hub.socket),
      headers: { authorization: `Bearer ${token}` },
    });
    this.socket.on('message', (data, binary) => {
      if (binary) this.frames.push(data as Buffer);
      else this.heard.push(JSON.parse(String(data)) as Message);
    });
  }

  async send(message: object): Promise<void> {
    await until(() => this.socket.readyState === WebSocket.OPEN);
    this.socket.send(JSON.stringify(message));
  }

  next(type: string, fits: (message: Message) => boolean = () => true): Promise<Message> {
    return until(() => this.heard.find((message) => message.type === type && fits(message)));
  }

  /** The text of a session, as far as it was heard. */
  text(sessionId: string): string {
    return this.heard
      .filter((message) => message.type === 'raw_data' && message.sessionId === sessionId)
      .map(({ rawData }) => rawData)
      .join('');
  }
}

describe('/ws', () => {
  it('starts a session and streams it as text, with characters whole', async () => {
    const client = new Client();
    expect(await client.next('session_list')).toMatchObject({ sessions: [] });
    const command = 'printf "\\\\303"; sleep 0.1; printf "\\\\266l\\n"; read x; echo "$x"';
    await client.send({ type: 'spawn', command: 'sh', args: ['-c', command], subscribe: true });
    const { sessionId } = await client.next('subscribed');
    const id = String(sessionId);
    await until(() => client.text(id) === 'öl\r\n');
    await client.send({ type: 'input', sessionId: id, data: 'bye\r' });
    await client.next('session_update', ({ session: one }) => (one as PtySession).status === 'exited');
    await until(() => client.text(id).endsWith('bye\r\nbye\r\n'));
    await client.send({ type: 'readRaw', sessionId: id });
    expect(await client.next('readRawResponse')).toMatchObject({
      sessionId: id,
      rawData: 'öl\r\nbye\r\nbye\r\n',
    });
    client.socket.close();
  });

  it('starts what a client of opencode-pty asks for, word for word', async () => {
    const client = new Client();
    await client.send({
      ...{ type: 'spawn', command: 'cat', args: [], workdir: '/tmp', env: {}, title: 'theirs' },
      ...{ description: 'as ever', parentSessionId: 'ses_theirs', notifyOnExit: false, subscribe: true },
    });
    const { sessionId } = await client.next('subscribed');
    expect(await session(String(sessionId))).toMatchObject({ title: 'theirs', description: 'as ever' });
    client.socket.close();
    await rest('DELETE', '/api/sessions');
  });

  it('goes on where a client left off, without a gap or a repeat', async () => {
    const { id } = await start(
      'sh',
      '-c',
      'i=0; while [ $i -lt 3000 ]; do i=$((i+1)); echo "line $i"; done; cat',
    );
    let next = 0;
    let bytes = Buffer.alloc(0);
    while (!bytes.includes('line 3000\r\n')) {
      const client = new Client();
      await client.send({ type: 'subscribe', sessionId: id, from: next, binary: true });
      const { handle } = await client.next('subscribed');
      const frame = await until(() => client.frames.at(0));
      client.socket.terminate();
      expect([frame.readUInt32BE(0), Number(frame.readBigUInt64BE(4))]).toEqual([handle, next]);
      bytes = Buffer.concat([bytes, frame.subarray(12)]);
      next += frame.length - 12;
    }
    const lines = bytes.toString().split('\r\n').slice(0, 3000);
    expect(lines).toEqual(Array.from({ length: 3000 }, (_, n) => `line ${n + 1}`));
    await rest('DELETE', '/api/sessions');
  });

  it('begins anew when a client knows more than there is', async () => {
    const { id } = await start('sh', '-c', 'echo again; cat');
    await until(async () => (await session(id)).lineCount === 1);
    const client = new Client();
    await client.send({ type: 'subscribe', sessionId: id, from: 1_000_000 });
    expect(await client.next('subscribed')).toMatchObject({ from: 0 });
    await until(() => client.text(id) === 'again\r\n');
    client.socket.close();
    await rest('DELETE', '/api/sessions');
  });

  it('changes the size, stops when told to, and streams only what is new when no place is named', async () => {
    const { id } = await start('sh', '-c', 'echo old; while read x; do stty size; done');
    await until(async () => (await session(id)).lineCount === 1);
    const client = new Client();
    await client.send({ type: 'subscribe', sessionId: id });
    expect(await client.next('subscribed')).toMatchObject({ from: 5 });
    await client.send({ type: 'resize', sessionId: id, cols: 77, rows: 11 });
    await client.send({ type: 'input', sessionId: id, data: '\r' });
    await until(() => client.text(id).includes('11 77'));
    expect(client.text(id)).not.toContain('old');
    await client.send({ type: 'unsubscribe', sessionId: id });
    await client.next('unsubscribed');
    const heard = client.text(id);
    await client.send({ type: 'input', sessionId: id, data: '\r' });
    await until(async () => (await session(id)).lineCount > 4);
    await client.send({ type: 'session_list' });
    await until(() => client.heard.filter(({ type }) => type === 'session_list').length === 2);
    expect(client.text(id)).toBe(heard);
    client.socket.close();
    await rest('DELETE', '/api/sessions');
  });

  it('types what comes after a size into a terminal that has it, whatever else goes on', async () => {
    const { id } = await start('sh', '-c', 'while read x; do stty size; done');
    const client = new Client();
    await client.send({ type: 'subscribe', sessionId: id, from: 0 });
    for (let round = 1; round <= 20; round++) {
      const meanwhile = Array.from({ length: 5 }, (_, value) =>
        hub.client.call('pane:set-meta', { paneId: id, key: 'note', value }),
      );
      await client.send({ type: 'resize', sessionId: id, cols: 50 + round, rows: 20 });
      await client.send({ type: 'input', sessionId: id, data: '\r' });
      const sizes = await until(() => {
        const printed = client.text(id).match(/20 \d+(?=\r\n)/g) ?? [];
        return printed.length === round && printed;
      });
      expect(sizes.at(-1)).toBe(`20 ${50 + round}`);
      await Promise.all(meanwhile);
    }
    client.socket.close();
    await rest('DELETE', '/api/sessions');
  });

  it('ends up with the last of very many sizes', async () => {
    const { id } = await start('sh', '-c', 'while read x; do stty size; done');
    const client = new Client();
    await client.send({ type: 'subscribe', sessionId: id, from: 0 });
    for (let n = 0; n < 1000; n++)
      await client.send({ type: 'resize', sessionId: id, cols: 2 + (n % 500), rows: 20 });
    await client.send({ type: 'resize', sessionId: id, cols: 123, rows: 45 });
    await until(async () => {
      const { cols, rows } = await hub.client.call('pane:screen', { paneId: id });
      return cols === 123 && rows === 45;
    });
    await client.send({ type: 'input', sessionId: id, data: '\r' });
    await until(() => client.text(id).includes('45 123'));
    client.socket.close();
    await rest('DELETE', '/api/sessions');
  });

  it('says of what is typed into an ended session that it has ended', async () => {
    const { id } = await start('true');
    await until(async () => (await session(id)).status === 'exited');
    const client = new Client();
    await client.send({ type: 'input', sessionId: id, data: 'x' });
    expect(await client.next('error')).toMatchObject({ code: 'pane_exited' });
    client.socket.close();
    await rest('DELETE', '/api/sessions');
  });

  it('takes messages as deep as bodies, and no deeper', async () => {
    const client = new Client();
    await client.next('session_list');
    const deep = (levels: number) => `{"type":"session_list","x":${'['.repeat(levels)}${']'.repeat(levels)}}`;
    for (const levels of [63, 64, 100_000]) client.socket.send(deep(levels));
    await until(() => client.heard.filter(({ type }) => type === 'error').length === 3);
    expect(client.heard.filter(({ type }) => type === 'error')).toMatchObject([
      { code: 'invalid_arguments', message: expect.stringContaining('x') },
      { code: 'invalid_request', message: 'the message is nested deeper than 64 levels.' },
      { code: 'invalid_request', message: 'the message is nested deeper than 64 levels.' },
    ]);
    client.socket.close();
  });

  it('answers bad messages with what is wrong, and goes on', async () => {
    const client = new Client();
    const bad = [
      ['{', 'invalid_request'],
      ['{"type":"dance"}', 'invalid_arguments'],
      ['{"type":"subscribe","sessionId":"pty_none"}', 'not_found'],
      ['{"type":"input","sessionId":"pty_none","data":"x"}', 'not_found'],
      ['{"type":"subscribe","sessionId":"pty_none","from":-1}', 'invalid_arguments'],
      ['{"type":"spawn","command":"/no/such/program"}', 'spawn_failed'],
      ['{"type":"resize","sessionId":"pty_none","cols":0,"rows":0}', 'invalid_arguments'],
    ] as const;
    await client.next('session_list');
    for (const [text] of bad) client.socket.send(text);
    client.socket.send(Buffer.from([1, 2, 3]));
    await until(() => client.heard.filter(({ type }) => type === 'error').length === bad.length + 1);
    expect(client.heard.filter(({ type }) => type === 'error').map(({ code }) => code)).toEqual([
      ...bad.map(([, code]) => code),
      'invalid_request',
    ]);
    expect(client.heard.find(({ code }) => code === 'invalid_arguments')).toMatchObject({
      message: expect.stringContaining('type must be session_list, subscribe, '),
    });
    // What is wrong, and nothing of where in our code that was noticed.
    expect(JSON.stringify(client.heard)).not.toMatch(/stack|\.c?[jt]s\b/);
    client.socket.close();
  });
});
