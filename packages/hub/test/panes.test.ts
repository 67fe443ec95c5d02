import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { environmentToPass } from '@polyphony/protocol';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TestHub, until } from './test-hub.ts';

const backends = ['pty', 'tmux'] as const;

it('panes of both backends show the same screen', async () => {
  await using hub = await TestHub.start();
  await hub.client.call('session:start', {});
  const drawing = [
    '\\033[?1049h\\033[2J\\033[H',
    'top left\\033[5;10Hfive, ten\\033[31mred\\033[0m',
    '\\033[7;1H\\344\\270\\255\\346\\226\\207 wide, e\\314\\201 combined',
    '\\033[9;1Habcdef\\033[3D\\033[K\\033[10;1Hto be scrolled\\033[11;12r\\033[12;1H\\n\\n',
    '\\033[13;1Hblanks behind it    \\033[14;1H      ',
    '\\033[r\\033[?25l\\033[3;4H',
  ].join('');
  const size = { cols: 60, rows: 15 };
  const screens = await Promise.all(
    backends.map(async (backend) => {
      const argv = ['sh', '-c', `stty -echo; printf '${drawing}'; printf '\\033]2;drawn\\007'; exec cat`];
      const { id } = await hub.client.call('pane:new', { argv, backend, ...size });
      return until(async () => {
        const screen = await hub.client.call('pane:screen', { paneId: id });
        return screen.title === 'drawn' && screen;
      });
    }),
  );
  const [pty, tmux] = screens.map(({ lines, cols, rows, cursor, title, alternate }) => ({
    ...{ lines, cols, rows, cursor, title, alternate },
  }));
  expect(pty).toEqual(tmux);
  expect(pty).toMatchObject({ ...size, alternate: true, cursor: { x: 3, y: 2, visible: false } });
  expect(pty?.lines[4]).toBe('         five, tenred');
  expect(pty?.lines[6]?.normalize('NFC')).toBe('中文 wide, é combined');
});

describe.each(backends)('%s panes', (backend) => {
  let hub: TestHub;

  beforeAll(async () => {
    hub = await TestHub.start({ env: { PTY_MAX_BUFFER_LINES: '1000' } });
    if (backend === 'tmux') await hub.client.call('session:start', {});
  });
  afterAll(() => hub[Symbol.asyncDispose]());

  const open = (...argv: string[]) => hub.client.call('pane:new', { argv, backend });
  const exit = (paneId: string) => hub.event('pane:exited', ({ payload }) => payload.paneId === paneId);
  const text = async (paneId: string): Promise<string[]> =>
    (await hub.client.call('pane:read', { paneId })).lines?.map((line) => line.text) ?? [];
  const shows = (paneId: string, line: string) =>
    until(async () => (await text(paneId)).some((shown) => shown.trim() === line));

  it('are started anew in their place, running or ended, and are another to whoever knew the one before', async () => {
    const argv = ['sh', '-c', 'echo "$WHO in $PWD"; exec cat'];
    const asked = { id: `again-${backend}`, argv, backend, cwd: '/', title: 'mine', meta: { role: 'x' } };
    const first = await hub.client.call('pane:new', { ...asked, env: { WHO: 'first' }, cols: 70 });
    const { id: paneId } = first;
    await shows(paneId, 'first in /');
    const ended = exit(paneId);
    const second = await hub.client.call('pane:restart', { paneId, env: { WHO: 'second' } });
    expect((await ended).payload).toMatchObject({ paneId });
    expect(second).toMatchObject({ id: paneId, meta: { role: 'x' }, backend });
    expect(second.pid).not.toBe(first.pid);
    await shows(paneId, 'second in /');
    expect((await text(paneId)).join('\n')).not.toContain('first');
    expect(await hub.client.call('pane:screen', { paneId })).toMatchObject({ cols: 70 });
    await hub.client.call('pane:close', { paneId, cleanup: false });
    await hub.client.call('pane:restart', { paneId });
    await shows(paneId, 'in /');
    const listed = await hub.client.call('pane:list', {});
    expect(listed.filter(({ id }) => id === paneId)).toMatchObject([
      { status: 'running', argv, title: 'mine' },
    ]);
    await hub.client.call('pane:close', { paneId });
    await expect(hub.client.call('pane:restart', { paneId })).rejects.toMatchObject({ code: 'not_found' });
  });

  it('that are started anew are not taken for ended because those before them have', async () => {
    const ids = Array.from({ length: 8 }, (_, n) => `born-${backend}-${n}`);
    for (const id of ids) await hub.client.call('pane:new', { id, argv: ['cat'], backend });
    const restart = (paneId: string) => hub.client.call('pane:restart', { paneId });
    for (let round = 0; round < 4; round++) {
      await Promise.all(ids.map(restart));
      // Refused by one that is taken for ended.
      await Promise.all(ids.map((paneId) => hub.client.call('pane:write', { paneId, data: `${round}\n` })));
      for (const id of ids) await shows(id, String(round));
    }
    const { seq } = await hub.client.emit('restarted', {});
    const running = new Map<unknown, boolean>();
    for await (const event of hub.events('pane:created,pane:exited,restarted', { since: 0 })) {
      if (event.seq === seq) break;
      running.set((event.payload as { paneId: string }).paneId, event.event === 'pane:created');
    }
    expect(ids.filter((id) => !running.get(id))).toEqual([]);
    await Promise.all(ids.map((paneId) => hub.client.call('pane:close', { paneId })));
  });

  it('keep so many notes, and so much in them, however they come', async () => {
    const { id: paneId } = await open('cat');
    const some = (from: number, value: string) =>
      Object.fromEntries(Array.from({ length: 60 }, (_, n) => [`n${from + n}`, value]));
    await hub.client.call('pane:update-meta', { paneId, set: some(0, 'x') });
    const many = hub.client.call('pane:update-meta', { paneId, set: some(60, 'x') });
    await expect(many).rejects.toMatchObject({
      code: 'too_large',
      message: expect.stringMatching(/^a pane keeps at most 100 notes .*; these are 120 notes/),
    });
    const long = 'x'.repeat(1200);
    const large = hub.client.call('pane:update-meta', { paneId, set: some(0, long) });
    await expect(large).rejects.toMatchObject({ code: 'too_large' });
    await expect(
      hub.client.call('pane:new', { argv: ['cat'], backend, meta: some(0, long) }),
    ).rejects.toMatchObject({ code: 'too_large' });
    expect(await hub.client.call('pane:get-meta', { paneId })).toEqual({ id: paneId, meta: some(0, 'x') });
    await hub.client.call('pane:close', { paneId });
  });

  it('that have ended are forgotten together, and no other', async () => {
    const { id: gone } = await open('true');
    const { id: runs } = await open('cat');
    await exit(gone);
    const { ids } = await hub.client.call('pane:prune', {});
    expect(ids).toContain(gone);
    expect(ids).not.toContain(runs);
    const left = (await hub.client.call('pane:list', {})).map(({ id, status }) => [id, status]);
    expect(left).toContainEqual([runs, 'running']);
    expect(left.every(([, status]) => status === 'running')).toBe(true);
    await hub.client.call('pane:close', { paneId: runs });
  });

  it('run a program, keep all it printed, and tell how it ended', async () => {
    const { id } = await open('sh', '-c', 'echo one; printf "two\\nthree"; exit 7');
    expect((await exit(id)).payload).toEqual({ paneId: id, exitCode: 7, exitSignal: null });
    expect(await hub.client.call('pane:read', { paneId: id })).toMatchObject({
      lines: [
        { n: 1, text: 'one' },
        { n: 2, text: 'two' },
        { n: 3, text: 'three' },
      ],
      from: 0,
      retainedFrom: 0,
      more: false,
      truncated: false,
    });
    const listed = (await hub.client.call('pane:list', {})).find((pane) => pane.id === id);
    expect(listed).toMatchObject({ status: 'exited', exitCode: 7, exitSignal: null, backend });
  });

  it('keep the last lines of many, under the numbers they had', async () => {
    const { id } = await open('seq', '1', '3000');
    await exit(id);
    const {
      lines = [],
      retainedFrom,
      from,
    } = await hub.client.call('pane:read', { paneId: id, fromLine: 1, limit: 2 });
    expect(from).toBe(retainedFrom);
    expect(lines[0]?.text).toBe(String(lines[0]?.n));
    expect(lines[0]?.n).toBeGreaterThan(1900);
    expect(await hub.client.call('pane:read', { paneId: id, fromLine: 1 })).toMatchObject({
      truncated: true,
      more: true,
    });
    expect((await hub.client.call('pane:read', { paneId: id, tail: 1 })).lines).toEqual([
      { n: 3000, text: '3000' },
    ]);
  });

  it('tell a signal as a signal', async () => {
    const { id } = await open('sh', '-c', 'kill -KILL $$');
    expect((await exit(id)).payload).toEqual({ paneId: id, exitCode: null, exitSignal: 'SIGKILL' });
  });

  it('that had to be killed say so, whatever they let pass before', async () => {
    const { id } = await open('sh', '-c', 'trap "" HUP TERM INT; echo ready; while :; do sleep 0.1; done');
    await hub.client.call('pane:wait', { paneId: id, text: 'ready', since: 0 });
    await hub.client.call('pane:close', { paneId: id, cleanup: false });
    expect((await exit(id)).payload).toEqual({ paneId: id, exitCode: null, exitSignal: 'SIGKILL' });
  });

  it('tell of their end with a notice, when somebody has asked for it', async () => {
    const argv = ['sh', '-c', 'echo compiling; echo "\\033[31m2 errors\\033[0m"; echo; exit 2'];
    const { id } = await hub.client.call('pane:new', { argv, backend, title: 'build', notifyOnExit: true });
    const { notice } = (await exit(id)).payload;
    expect(String(notice).split('\n').slice(0, 7)).toEqual([
      '<pty_exited>',
      `ID: ${id}`,
      'Title: build',
      'Exit Code: 2',
      'Output Lines: 3',
      'Last Line: 2 errors',
      '</pty_exited>',
    ]);
  });

  it('get exactly the arguments they were given', async () => {
    const argv = ['printf', '[%s]\\n', '', 'a b', "it's", 'two\nlines', '$HOME', '#{pane_id}', '%H', ';'];
    const { id } = await open(...argv);
    await exit(id);
    expect(await text(id)).toEqual([
      '[]',
      '[a b]',
      "[it's]",
      '[two',
      'lines]',
      '[$HOME]',
      '[#{pane_id}]',
      '[%H]',
      '[;]',
    ]);
  });

  it('know who they are, and find the hub', async () => {
    const { id } = await open(
      'sh',
      '-c',
      'echo "$POLY_PANE $POLY_SOCKET $POLY_BASE_URL"; test -n "$POLY_TOKEN"',
    );
    expect((await exit(id)).payload).toMatchObject({ exitCode: 0 });
    expect(await text(id)).toEqual([`${id} ${hub.socket} ${hub.discovery.url}`]);
  });

  it('are nobody’s tools, also where an agent started the hub or makes them', async () => {
    const marks = { CLAUDECODE: '1', CODEX_THREAD_ID: '01a1', GEMINI_CLI: '1', OPENCODE: '1', KEPT: 'yes' };
    await using started = await TestHub.start({ env: marks });
    if (backend === 'tmux') await started.client.call('session:start', {});
    const { id } = await started.client.call('pane:new', {
      ...{ argv: ['sh', '-c', 'env; echo end; exec cat'], backend },
      env: environmentToPass({ CLAUDE_CODE_ENTRYPOINT: 'cli', CALLER: 'here' }),
    });
    const lines = await until(async () => {
      const { lines } = await started.client.call('pane:read', { paneId: id });
      return lines?.some((line) => line.text === 'end') && lines.map((line) => line.text);
    });
    expect(lines.filter((line) => /^(KEPT|CALLER|CLAUDE|CODEX|GEMINI|OPENCODE)/.test(line)).sort()).toEqual([
      'CALLER=here',
      'KEPT=yes',
    ]);
  });

  it('take text, keys and every byte as they are typed', async () => {
    const { id } = await open(
      'sh',
      '-c',
      'stty raw -echo; echo ready; dd bs=1 count=12 2>/dev/null | od -An -tx1 -w64',
    );
    await shows(id, 'ready');
    expect(await hub.client.call('pane:write', { paneId: id, data: 'Enter ü\u0001', enter: true })).toEqual({
      bytes: 10,
    });
    await hub.client.call('pane:keys', { paneId: id, keys: ['C-c', 'x'] });
    await exit(id);
    expect((await text(id)).at(-1)?.trim()).toBe('45 6e 74 65 72 20 c3 bc 01 0d 03 78');
  });

  it('take bytes that are no text, or say that they cannot', async () => {
    const { id } = await open('sh', '-c', 'stty -echo raw; echo ready; head -c 3 | od -An -tx1');
    await shows(id, 'ready');
    const bytes = { data: Buffer.from([0xff, 0x00, 0xe9]).toString('base64'), encoding: 'base64' } as const;
    const written = hub.client.call('pane:write', { paneId: id, ...bytes });
    if (backend === 'tmux') return expect(written).rejects.toMatchObject({ code: 'invalid_arguments' });
    expect(await written).toEqual({ bytes: 3 });
    await shows(id, 'ff 00 e9');
  });

  it('refuse what is typed after their end', async () => {
    const { id } = await open('true');
    await exit(id);
    await expect(hub.client.call('pane:write', { paneId: id, data: 'x' })).rejects.toMatchObject({
      code: 'pane_exited',
    });
  });

  it('end with everything they started', async () => {
    const { id } = await open(
      'sh',
      '-c',
      'setsid sleep 1000 & sleep 1000 & echo "$! pid"; trap "" TERM HUP; wait',
    );
    const [line = ''] = await until(async () => {
      const lines = await text(id);
      return lines.length > 0 && lines;
    });
    await hub.client.call('pane:close', { paneId: id, cleanup: false });
    expect(() => process.kill(Number.parseInt(line, 10), 0)).toThrow('ESRCH');
    expect(processesOf(id)).toEqual([]);
    expect((await hub.client.call('pane:list', {})).find((pane) => pane.id === id)?.status).toBe('exited');
  });

  it('are forgotten when they are closed, but not when they end, and that is told', async () => {
    const { id } = await open('true');
    await exit(id);
    await hub.client.call('pane:close', { paneId: id, cleanup: false });
    const { seq: before } = await hub.client.emit('kept-so-far', {});
    await hub.client.call('pane:close', { paneId: id });
    const removed = await hub.event('pane:removed', ({ payload }) => payload.paneId === id);
    expect(removed).toMatchObject({ payload: { paneId: id }, source: expect.stringMatching(/^user:/) });
    expect(removed.seq).toBeGreaterThan(before);
    await expect(hub.client.call('pane:read', { paneId: id })).rejects.toMatchObject({ code: 'not_found' });
    expect((await hub.client.call('pane:list', {})).map((pane) => pane.id)).not.toContain(id);
  });

  it('show their screen, and follow their size', async () => {
    const { id } = await open(
      'sh',
      '-c',
      'trap "stty size" WINCH; printf "\\033[2J\\033[3;5Hhere"; while :; do sleep 0.1; done',
    );
    const screen = await until(async () => {
      const seen = await hub.client.call('pane:screen', { paneId: id });
      return seen.lines[2]?.includes('here') && seen;
    });
    expect(screen).toMatchObject({ cols: 120, rows: 40, cursor: { x: 8, y: 2 }, alternate: false });
    await hub.client.call('pane:resize', { paneId: id, cols: 90, rows: 20 });
    await shows(id, 'here20 90');
    expect(await hub.client.call('pane:screen', { paneId: id })).toMatchObject({ cols: 90, rows: 20 });
    await hub.client.call('pane:close', { paneId: id });
  });

  it('take no word of theirs for something to run', async () => {
    const trap = join(hub.home, `trap-${backend}`);
    const run = `#(touch ${trap})`;
    const folder = join(hub.home, `#(touch x)${backend}`);
    mkdirSync(folder);
    const { id } = await hub.client.call('pane:new', {
      argv: ['pwd', run],
      title: `${run} #{session_name}`,
      cwd: folder,
      backend,
    });
    await exit(id);
    const listed = (await hub.client.call('pane:list', {})).find((pane) => pane.id === id);
    expect(listed?.title).toBe(`${run} #{session_name}`);
    const { id: other } = await hub.client.call('pane:new', { argv: ['pwd'], cwd: folder, backend });
    await exit(other);
    expect(await text(other)).toEqual([folder]);
    expect(existsSync(trap)).toBe(false);
  });

  it('of one id are one, however many ask at once', async () => {
    const asked = Array.from({ length: 5 }, () =>
      hub.client.call('pane:new', {
        id: `one-${backend}`,
        argv: ['sh', '-c', 'echo "$POLY_TOKEN"; exec cat'],
        backend,
      }),
    );
    const outcomes = await Promise.allSettled(asked);
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    const token = await until(async () => (await text(`one-${backend}`))[0]);
    await expect(hub.as(token).call('pane:write', { paneId: `one-${backend}`, data: 'x' })).resolves.toEqual({
      bytes: 1,
    });
    await hub.client.call('pane:close', { paneId: `one-${backend}` });
  });

  it('leave nothing running when they are closed after their end', async () => {
    const { id } = await open('sh', '-c', 'setsid sleep 777 & sleep 0.2');
    await exit(id);
    await hub.client.call('pane:close', { paneId: id });
    expect(processesOf(id)).toEqual([]);
  });

  it('take a long text of many lines whole, and others meanwhile', async () => {
    const { id } = await open('sh', '-c', 'stty raw -echo; echo ready; head -c 200000 | cksum; exec cat');
    const { id: other } = await open('cat');
    await shows(id, 'ready');
    const data = 'a line of forty characters, or nearly so\n'.repeat(4_879).slice(0, 200_000);
    const typed = hub.client.call('pane:write', { paneId: id, data });
    await hub.client.call('pane:write', { paneId: other, data: 'meanwhile', enter: true });
    await shows(other, 'meanwhile');
    expect(await typed).toEqual({ bytes: 200_000 });
    const sum = execFileSync('cksum', { input: data, encoding: 'utf8' }).trim();
    await shows(id, sum);
    for (const paneId of [id, other]) await hub.client.call('pane:close', { paneId });
  });

  it('refuse an id that is taken', async () => {
    const { id } = await hub.client.call('pane:new', { id: `mine-${backend}`, argv: ['cat'], backend });
    await expect(hub.client.call('pane:new', { id, argv: ['cat'], backend })).rejects.toMatchObject({
      code: 'conflict',
    });
    await hub.client.call('pane:close', { paneId: id });
  });

  it('keep notes, changed in one step', async () => {
    const { id } = await hub.client.call('pane:new', {
      argv: ['cat'],
      backend,
      meta: { role: 'agent', n: 0 },
    });
    const changes = await Promise.all(
      Array.from({ length: 20 }, (_, n) =>
        hub.client.call('pane:set-meta', { paneId: id, key: 'n', value: n + 1 }),
      ),
    );
    // Each saw what the one before it had left.
    expect(new Set(changes.map(({ previousMeta }) => previousMeta.n)).size).toBe(20);
    expect(
      await hub.client.call('pane:update-meta', { paneId: id, set: { a: null }, deleteKeys: ['n', 'none'] }),
    ).toEqual({
      id,
      previousMeta: { role: 'agent', n: changes.at(-1)?.meta.n },
      meta: { role: 'agent', a: null },
      changed: true,
    });
    expect(await hub.client.call('pane:delete-meta', { paneId: id, keys: ['none'] })).toMatchObject({
      changed: false,
    });
    expect(await hub.client.call('pane:get-meta', { paneId: id })).toEqual({
      id,
      meta: { role: 'agent', a: null },
    });
    await hub.client.call('pane:close', { paneId: id });
  });

  it('start where they are told, or not at all', async () => {
    const { id } = await hub.client.call('pane:new', { argv: ['pwd'], cwd: '/usr', backend });
    await exit(id);
    expect(await text(id)).toEqual(['/usr']);
    const before = (await hub.client.call('pane:list', {})).length;
    await expect(
      hub.client.call('pane:new', { argv: ['pwd'], cwd: '/nowhere', backend }),
    ).rejects.toMatchObject({ code: 'spawn_failed' });
    await expect(hub.client.call('pane:new', { argv: ['no-such-program'], backend })).rejects.toMatchObject({
      code: 'spawn_failed',
      details: { errno: 'ENOENT' },
    });
    expect(await hub.client.call('pane:list', {})).toHaveLength(before);
  });
});

/** The processes that carry a pane's id in their environment. */
function processesOf(paneId: string): readonly string[] {
  return readdirPids().filter((pid) => {
    try {
      return readFileSync(join('/proc', pid, 'environ'), 'utf8')
        .split('\0')
        .includes(`POLY_PANE=${paneId}`);
    } catch {
      return false; // It has ended meanwhile.
    }
  });
}

function readdirPids(): readonly string[] {
  return readdirSync('/proc').filter((name) => /^\d+$/.test(name));
}
