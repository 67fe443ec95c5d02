import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import {
  closeSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { PaneReadParams, PaneReadResult } from '@polyphony/protocol';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { env, hostProgram, outputOf, size, startTestHost, type TestHost } from './host-setup.ts';
import { buildFaults, canPreload } from './store-faults.ts';
import { TestHub, until } from './test-hub.ts';

const megabyte = 1024 * 1024;
const config = '[output]\nkeep = "disk"\n';

const folderOf = (hub: TestHub, id: string): string => join(hub.dir, 'panes', id);
/** How many bytes there are in the files of a folder. */
const bytesIn = (dir: string): number =>
  existsSync(dir)
    ? readdirSync(dir).reduce(
        (sum, name) => sum + (statSync(join(dir, name), { throwIfNoEntry: false })?.size ?? 0),
        0,
      )
    : 0;
const read = (
  hub: TestHub,
  paneId: string,
  more: Omit<PaneReadParams, 'paneId'> = {},
): Promise<PaneReadResult> => hub.client.call('pane:read', { paneId, ...more });
const texts = ({ lines = [] }: PaneReadResult): string[] => lines.map(({ text }) => text);
const ended = (hub: TestHub, id: string) => hub.event('pane:exited', ({ payload }) => payload.paneId === id);
/** Waits until every byte that a pane has printed is in a file. */
const isWritten = (hub: TestHub, id: string): Promise<boolean> =>
  until(async () => bytesIn(folderOf(hub, id)) === (await read(hub, id, { tail: 0 })).next);
const numbers = (from: number, to: number): string[] =>
  Array.from({ length: to - from + 1 }, (_, index) => String(from + index));

describe.each(['pty', 'tmux'] as const)('what a %s pane printed, on the disk,', (backend) => {
  let hub: TestHub;
  let id: string;
  const last = 300_000;

  beforeAll(async () => {
    hub = await TestHub.start({ config, env: { PTY_MAX_BUFFER_LINES: '1000' } });
    if (backend === 'tmux') await hub.client.call('session:start', {});
    ({ id } = await hub.client.call('pane:new', {
      argv: ['sh', '-c', `stty -onlcr; seq 1 ${last}`],
      backend,
    }));
    await ended(hub, id);
    await isWritten(hub, id);
  });
  afterAll(() => hub[Symbol.asyncDispose]());

  it('is read by line, by byte and from the end, far beyond what is in memory', async () => {
    expect(await read(hub, id, { fromLine: 1, limit: 3 })).toMatchObject({
      lines: [{ n: 1 }, { n: 2 }, { n: 3, text: '3' }],
      from: 0,
      next: 6,
      retainedFrom: 0,
      more: true,
      truncated: false,
    });
    for (const fromLine of [1000, 123_456, 298_990, last - 999, last])
      expect(await read(hub, id, { fromLine, limit: 1 })).toMatchObject({
        lines: [{ n: fromLine, text: String(fromLine) }],
        truncated: false,
      });
    expect(texts(await read(hub, id, { tail: 90_000 }))).toEqual(numbers(last - 89_999, last));
    const { next } = await read(hub, id, { fromLine: 200_000, limit: 1 });
    expect(texts(await read(hub, id, { since: next, limit: 2 }))).toEqual(['200001', '200002']);
    expect(await read(hub, id, { since: next + 3, limit: 1 })).toMatchObject({
      lines: [{ n: 200_001, text: '001' }],
      from: next + 3,
    });
  });

  it('is found as in memory: the newest first, before a line, and page by page', async () => {
    const found = async (pattern: string, more: object = {}) => {
      const outcome = await hub.client.call('pane:search', { paneId: id, pattern, ...more });
      expect(outcome.complete).toBe(true);
      return outcome.matches.map(({ n }) => n);
    };
    expect(await found('^(7|150000|299999)$')).toEqual([299_999, 150_000, 7]);
    expect(await found('77777', { literal: true })).toEqual([277_777, 177_777, 77_777]);
    expect(await found('77777', { literal: true, before: 177_777 })).toEqual([77_777]);
    expect(await found('0$', { limit: 2, before: 100_000 })).toEqual([99_990, 99_980]);
  });

  it('is waited for from any byte on', async () => {
    const waited = await hub.client.call('pane:wait', { paneId: id, text: '^100001$', since: 0 });
    expect(waited).toMatchObject({ reason: 'text', match: { n: 100_001 } });
    const again = await hub.client.call('pane:wait', { paneId: id, text: '1$', since: waited.next + 2 });
    expect(again).toMatchObject({ reason: 'text', match: { n: 100_002 + 9 } });
  });

  it('is for nobody else to read', () => {
    const files = readdirSync(folderOf(hub, id)).map((name) => join(folderOf(hub, id), name));
    expect(files.length).toBeGreaterThan(1);
    const modes = [join(hub.dir, 'panes'), folderOf(hub, id), ...files].map(
      (path) => statSync(path).mode & 0o777,
    );
    expect(modes).toEqual([0o700, 0o700, ...files.map(() => 0o600)]);
  });

  it('is gone with the pane', async () => {
    await hub.client.call('pane:close', { paneId: id });
    await until(() => !existsSync(folderOf(hub, id)));
  });
});

describe('output on the disk', () => {
  it('outlives the host, and a hub after it', async () => {
    await using hub = await TestHub.start({ config });
    const { id } = await hub.client.call('pane:new', {
      argv: ['sh', '-c', 'seq 1 5000; printf "half a line"; exec cat'],
      cols: 100,
      rows: 10,
      backend: 'pty',
    });
    await until(async () => texts(await read(hub, id, { tail: 1 }))[0] === 'half a line');
    await isWritten(hub, id);
    const look = async (): Promise<void> => {
      expect(await read(hub, id, { fromLine: 1, limit: 1 })).toMatchObject({
        lines: [{ text: '1' }],
        retainedFrom: 0,
      });
      expect(texts(await read(hub, id, { tail: 6000 }))).toEqual([...numbers(1, 5000), 'half a line']);
      await until(async () => (await hub.client.call('pane:list', {}))[0]?.lines === 5001);
      const { matches } = await hub.client.call('pane:search', { paneId: id, pattern: '^(44|half.*)$' });
      expect(matches.map(({ n }) => n)).toEqual([5001, 44]);
      const screen = await hub.client.call('pane:screen', { paneId: id });
      expect(screen).toMatchObject({ cols: 100, rows: 10 });
      expect(screen.lines.filter((line) => line !== '').at(-1)).toBe('half a line');
    };
    process.kill(hub.hostPid(), 'SIGKILL');
    await ended(hub, id);
    await look();
    await hub.kill('SIGKILL');
    process.kill(hub.hostPid(), 'SIGKILL');
    await hub.start();
    await look();
    await hub.client.call('pane:close', { paneId: id });
    await until(() => !existsSync(folderOf(hub, id)));
    await expect(read(hub, id)).rejects.toMatchObject({ code: 'not_found' });
  });

  it('goes on, with its numbers, when tmux has outlived the host', async () => {
    await using hub = await TestHub.start({ config });
    await hub.client.call('session:start', {});
    const { id } = await hub.client.call('pane:new', {
      argv: ['sh', '-c', 'echo before; read _; echo after; exec cat'],
      backend: 'tmux',
    });
    await until(async () => texts(await read(hub, id))[0] === 'before');
    await isWritten(hub, id);
    const { next } = await read(hub, id, { tail: 0 });
    const pid = hub.hostPid();
    process.kill(pid, 'SIGKILL');
    await until(() =>
      hub.client.call('pane:write', { paneId: id, data: '', enter: true }).catch(() => undefined),
    );
    await until(async () => {
      const lines = await read(hub, id, { since: next }).catch(() => undefined);
      return lines && texts(lines).includes('after');
    });
    expect(await read(hub, id, { fromLine: 1, limit: 1 })).toMatchObject({
      lines: [{ n: 1, text: 'before' }],
      from: 0,
    });
    await isWritten(hub, id);
  });

  it('of a shell in tmux goes on in the line it was in: nothing glued, torn or told twice', async () => {
    await using hub = await TestHub.start({ config });
    await hub.client.call('session:start', {});
    const { id } = await hub.client.call('pane:new', {
      argv: ['sh'],
      env: { PS1: 'prompt> ' },
      backend: 'tmux',
    });
    const type = (data: string) => hub.client.call('pane:write', { paneId: id, data, enter: true });
    const shows = (...last: string[]) =>
      until(async () => {
        const lines = texts(await read(hub, id).catch(() => ({}) as PaneReadResult));
        return lines.slice(-last.length).join('\n') === last.join('\n');
      });
    await shows('prompt> ');
    await type("printf 'one\\ttwo\\n\\033[31mred\\033[m\\n'");
    await shows('red', 'prompt> ');
    await isWritten(hub, id);
    const before = await read(hub, id, { since: 0 });
    process.kill(hub.hostPid(), 'SIGKILL');
    // While no host is there, the shell is typed to in tmux.
    const tmux = ['-L', hub.env.POLY_TMUX_SOCKET ?? ''];
    execFileSync('tmux', [...tmux, 'send-keys', '-t', ':{end}', 'echo meanwhile', 'Enter']);
    await shows('prompt> echo meanwhile', 'meanwhile', 'prompt> ');
    await type('echo after');
    await shows('prompt> echo after', 'after', 'prompt> ');
    const whole = await read(hub, id, { since: 0 });
    expect(texts(whole)).toEqual([
      ...texts(before).slice(0, -1),
      ...['prompt> echo meanwhile', 'meanwhile', 'prompt> echo after', 'after', 'prompt> '],
    ]);
    expect(whole).toMatchObject({ from: 0, truncated: false, more: false });
    await isWritten(hub, id);
  });

  it('that does not fit what tmux still shows goes on in a new line, behind a gap that is told', async () => {
    await using hub = await TestHub.start({ config });
    await hub.client.call('session:start', {});
    const { id } = await hub.client.call('pane:new', {
      argv: [
        'sh',
        '-c',
        'printf "one\\ntwo\\nhalf"; read _; printf "\\033[H\\033[2J\\033[3Jnew\\n"; exec cat',
      ],
      backend: 'tmux',
    });
    await until(async () => texts(await read(hub, id)).at(-1) === 'half');
    await isWritten(hub, id);
    const { next } = await read(hub, id, { tail: 0 });
    await hub.kill('SIGKILL');
    process.kill(hub.hostPid(), 'SIGKILL');
    const tmux = (...argv: string[]) =>
      execFileSync('tmux', ['-L', hub.env.POLY_TMUX_SOCKET ?? '', ...argv], { encoding: 'utf8' });
    tmux('send-keys', '-t', ':{end}', 'Enter');
    await until(() => tmux('capture-pane', '-p', '-t', ':{end}').startsWith('new'));
    await hub.start();
    await until(async () => texts(await read(hub, id, { tail: 1 }))[0] === 'new');
    const kept = await read(hub, id, { since: 0 });
    expect(kept).toMatchObject({ from: 0, next, more: true, truncated: false });
    expect(texts(kept)).toEqual(['one', 'two', 'half']);
    const after = await read(hub, id, { since: next });
    expect(after).toMatchObject({ lines: [{ n: 4, text: 'new' }], truncated: true, more: false });
    expect(after.from).toBeGreaterThan(next);
    expect(await read(hub, id, { fromLine: 3, limit: 1 })).toMatchObject({ truncated: false });
    expect(await read(hub, id, { fromLine: 4, limit: 1 })).toMatchObject({ truncated: true });
  });

  it('is lost with the host where it is kept in memory, and says how it would not have been', async () => {
    await using hub = await TestHub.start();
    const { id } = await hub.client.call('pane:new', {
      argv: ['sh', '-c', 'echo secret; exec cat'],
      backend: 'pty',
    });
    await until(async () => texts(await read(hub, id))[0] === 'secret');
    expect(readdirSync(join(hub.dir, 'panes'))).toEqual([]);
    process.kill(hub.hostPid(), 'SIGKILL');
    await ended(hub, id);
    await expect(read(hub, id)).rejects.toMatchObject({
      code: 'unavailable',
      hint: expect.stringContaining('keep = "disk"'),
    });
  });

  it('is replayed whole over HTTP and WebSocket, before and after the host was killed', async () => {
    await using hub = await TestHub.start({ config, env: { PTY_MAX_BUFFER_LINES: '1000' } });
    const { id } = await hub.client.call('pane:new', { argv: ['seq', '1', '300000'], backend: 'pty' });
    await ended(hub, id);
    await isWritten(hub, id);
    const whole = numbers(1, 300_000);
    const look = async (): Promise<void> => {
      const answer = await hub.send({
        method: 'GET',
        path: `/api/sessions/${id}/buffer/plain`,
        headers: { authorization: `Bearer ${hub.token}` },
      });
      expect(JSON.parse(answer.body).plain.trimEnd().split('\n')).toEqual(whole);
      const socket = new WebSocket('ws://poly/ws', {
        createConnection: () => connect(hub.socket),
        headers: { authorization: `Bearer ${hub.token}` },
      });
      await once(socket, 'open');
      const { promise, resolve } = Promise.withResolvers<void>();
      let text = '';
      socket.on('message', (data) => {
        const message = JSON.parse(String(data));
        if (message.type === 'raw_data') text += message.rawData;
        if (text.endsWith('\r\n300000\r\n')) resolve();
      });
      socket.send(JSON.stringify({ type: 'subscribe', sessionId: id, from: 0 }));
      await promise;
      socket.terminate();
      expect(text.trimEnd().split('\r\n')).toEqual(whole);
    };
    await look();
    process.kill(hub.hostPid(), 'SIGKILL');
    await until(() => read(hub, id, { tail: 0 }).catch(() => undefined));
    await look();
  });

  it('of which a file cannot be read is searched as far as it can, which is told', async () => {
    await using hub = await TestHub.start({ config, env: { PTY_MAX_BUFFER_LINES: '1000' } });
    const { id } = await hub.client.call('pane:new', { argv: ['seq', '1', '300000'], backend: 'pty' });
    await ended(hub, id);
    await isWritten(hub, id);
    const [first = ''] = readdirSync(folderOf(hub, id)).filter((name) => name.startsWith('0-'));
    const [file, aside] = [join(folderOf(hub, id), first), join(hub.home, 'aside')];
    // A link is not followed: a failure that is none of the file's.
    renameSync(file, aside);
    symlinkSync(aside, file);
    const search = () => hub.client.call('pane:search', { paneId: id, pattern: '^(7|299999)$' });
    expect(await search()).toEqual({
      matches: [{ n: 299_999, text: '299999' }],
      more: false,
      complete: false,
    });
    const waited = hub.client.call('pane:wait', { paneId: id, text: '9$', since: 0 });
    expect((await hub.client.call('pane:search', { paneId: id, pattern: '9$', limit: 1 })).complete).toBe(
      true,
    );
    unlinkSync(file);
    renameSync(aside, file);
    expect(await waited).toMatchObject({ reason: 'text', match: { n: 9 } });
    expect(await search()).toMatchObject({ matches: [{ n: 299_999 }, { n: 7 }], complete: true });
  });

  it('begins anew with a pane that is started again', async () => {
    await using hub = await TestHub.start({ config });
    const { id } = await hub.client.call('pane:new', {
      argv: ['sh', '-c', 'echo "life $$"; exec cat'],
      persist: true,
      backend: 'pty',
    });
    const first = await until(async () => texts(await read(hub, id))[0]);
    await isWritten(hub, id);
    process.kill(hub.hostPid(), 'SIGKILL');
    const second = await until(async () => {
      const line = texts(await read(hub, id).catch(() => ({}) as PaneReadResult))[0];
      return line !== first && line;
    });
    expect(second).toMatch(/^life \d+$/);
    expect(await read(hub, id, { tail: 0 })).toMatchObject({ retainedFrom: 0, next: second.length + 2 });
    await isWritten(hub, id);
  });

  it('stays within the size of one pane and of all, at the cost of the oldest of its family', async () => {
    await using hub = await TestHub.start({
      config: '[output]\nkeep = "disk"\npane_disk_mb = 1\nall_disk_mb = 2\n',
      env: { PTY_MAX_BUFFER_LINES: '1000' },
    });
    const { id: other } = await hub.client.call('pane:new', { argv: ['seq', '1', '30000'], backend: 'pty' });
    await ended(hub, other);
    await isWritten(hub, other);
    const leader = hub.as(await hub.paneToken('leader'));
    const fill = async (): Promise<string> => {
      const { id } = await leader.call('pane:new', { argv: ['seq', '1', '300000'], backend: 'pty' });
      await ended(hub, id);
      const { next } = await read(hub, id, { tail: 0 });
      // The newest byte is the last of the newest file.
      await until(() =>
        readdirSync(folderOf(hub, id)).some((name) => {
          const { size } = statSync(join(folderOf(hub, id), name), { throwIfNoEntry: false }) ?? { size: 0 };
          return Number.parseInt(name, 10) + size === next;
        }),
      );
      return id;
    };
    const first = await fill();
    const {
      retainedFrom,
      lines: [oldest] = [],
      truncated,
    } = await read(hub, first, { fromLine: 1, limit: 1 });
    expect(retainedFrom).toBeGreaterThan(megabyte / 2);
    expect({ text: oldest?.text, truncated }).toEqual({ text: String(oldest?.n), truncated: true });
    expect(bytesIn(folderOf(hub, first))).toBeLessThanOrEqual(megabyte);
    expect(bytesIn(folderOf(hub, first))).toBeGreaterThan(megabyte / 2);
    const next = [await fill(), await fill()];
    const all = [first, ...next, other, 'leader'].map((id) => bytesIn(folderOf(hub, id)));
    expect(all.reduce((sum, bytes) => sum + bytes)).toBeLessThanOrEqual(2 * megabyte);
    expect(all[0]).toBeLessThan(megabyte / 2);
    const gauge = async () => (await hub.client.call('server:status', {})).gauges.outputDiskBytes;
    expect(await gauge()).toBe(all.reduce((sum, bytes) => sum + bytes));
    for (const id of [first, ...next])
      expect(await read(hub, id, { tail: 1 })).toMatchObject({ lines: [{ n: 300_000, text: '300000' }] });
    expect(await read(hub, other, { fromLine: 1, limit: 1 })).toMatchObject({
      lines: [{ n: 1, text: '1' }],
      truncated: false,
    });
  });

  it('of panes nobody knows of is removed, and of others left alone', async () => {
    await using hub = await TestHub.start({ config });
    const { id } = await hub.client.call('pane:new', { argv: ['echo', 'mine'], backend: 'pty' });
    await ended(hub, id);
    await isWritten(hub, id);
    await hub.kill('SIGKILL');
    process.kill(hub.hostPid(), 'SIGKILL');
    mkdirSync(folderOf(hub, 'ghost'), { mode: 0o700 });
    writeFileSync(join(folderOf(hub, 'ghost'), '0-0.out'), 'boo\n', { mode: 0o600 });
    await hub.start();
    expect(texts(await read(hub, id))).toEqual(['mine']);
    await until(() => !existsSync(folderOf(hub, 'ghost')));
    expect(texts(await read(hub, id))).toEqual(['mine']);
  });

  it('is written nowhere but in its folder', async () => {
    await using hub = await TestHub.start({ config });
    const elsewhere = join(hub.home, 'elsewhere');
    mkdirSync(elsewhere);
    writeFileSync(join(elsewhere, '0-0.out'), 'not ours');
    symlinkSync(elsewhere, folderOf(hub, 'linked'));
    const { id } = await hub.client.call('pane:new', { id: 'linked', argv: ['echo', 'x'], backend: 'pty' });
    await ended(hub, id);
    await isWritten(hub, id);
    expect(lstatSync(folderOf(hub, id)).isDirectory()).toBe(true);
    expect(readFileSync(join(elsewhere, '0-0.out'), 'utf8')).toBe('not ours');
    for (const other of ['../escape', '..', '.', 'a/b', '/tmp/escape'])
      await expect(hub.client.call('pane:new', { id: other, argv: ['true'] })).rejects.toMatchObject({
        code: 'invalid_arguments',
      });
  });

  it('that cannot be written costs no pane anything, is told, and comes back', async () => {
    await using hub = await TestHub.start({ config });
    const panes = join(hub.dir, 'panes');
    rmSync(panes, { recursive: true });
    writeFileSync(panes, 'no folder');
    const { id } = await hub.client.call('pane:new', {
      argv: ['sh', '-c', 'echo one; exec cat'],
      backend: 'pty',
    });
    const problems = async () => (await hub.client.call('server:status', {})).problems;
    const [problem] = await until(async () => {
      const all = await problems();
      return all.length > 0 && all;
    });
    expect(problem).toContain(`cannot be kept in ${panes}: `);
    expect(texts(await read(hub, id))).toEqual(['one']);
    await hub.client.call('pane:write', { paneId: id, data: 'two', enter: true });
    await until(async () => texts(await read(hub, id)).length === 3);
    rmSync(panes);
    await until(async () => (await problems()).length === 0);
    await isWritten(hub, id);
    const log = readFileSync(join(hub.dir, 'host', 'host.log'), 'utf8');
    expect(log.match(/cannot be kept on the disk/g)).toHaveLength(1);
  });
});

describe('a host with a folder for output', () => {
  const keep = { cwd: '/', env, ...size, maxBytes: megabyte / 4, diskBytes: 8 * megabyte };
  let dir: string;

  beforeAll(() => {
    dir = mkdtempSync(join(tmpdir(), 'poly-output-'));
  });
  afterAll(() => rmSync(dir, { recursive: true, force: true }));

  it('refuses an id that is no name of a folder', async () => {
    await using t = await startTestHost({ panes: join(dir, 'panes') });
    for (const id of ['../escape', '..', 'a/b', '/escape', `${'x'.repeat(65)}`])
      await expect(t.host.open({ id, argv: ['true'], ...keep })).rejects.toMatchObject({
        code: 'invalid_parameters',
        message: expect.stringContaining('kept on the disk'),
      });
  });

  describe('that is asked for much of one pane', () => {
    const lines = 500_000;
    const portion = 20_000;
    let t: TestHost;
    let panes: string;
    /** Prints in each line its number, never more at once than there is memory for, and waits until all of them are in files. */
    const print = async (id: string, last: number): Promise<void> => {
      const { bytes: before } = await t.host.disk();
      const argv = ['sh', '-c', 'stty -echo; echo 0; while read -r from to; do seq "$from" "$to"; done'];
      await t.host.open({ id, argv, ...keep });
      await until(async () => (await t.host.read(id, { tail: 1 })).bytes.toString() === '0\r\n');
      for (let from = 1; from <= last; from += portion) {
        const to = Math.min(from + portion - 1, last);
        await t.host.write(id, Buffer.from(`${from} ${to}\n`));
        await until(async () => {
          const { bytes, end } = await t.host.read(id, { tail: 1 });
          return bytes.toString() === `${to}\r\n` && (await t.host.disk()).bytes === before + end;
        });
      }
    };

    /** Lets whoever reads the first lines of a pane wait; answers what ends that. */
    const hang = (id: string): (() => void) => {
      const [first = ''] = readdirSync(join(panes, id)).filter((name) => name.startsWith('0-'));
      const file = join(panes, id, first);
      renameSync(file, join(dir, first));
      execFileSync('mkfifo', [file]);
      return () => {
        const fifo = openSync(file, 'w');
        renameSync(join(dir, first), file);
        closeSync(fifo);
      };
    };

    beforeAll(async () => {
      panes = mkdtempSync(join(dir, 'asked-'));
      t = await startTestHost({ panes });
      await print('a', lines);
      await print('b', lines);
    });
    afterAll(() => t[Symbol.asyncDispose]());

    it('answers what another is asked for in between', async () => {
      const answered: string[] = [];
      const ask = async (id: string, fromLine: number): Promise<void> => {
        const { bytes } = await t.host.read(id, { fromLine, limit: 1 });
        expect(bytes.toString()).toBe(`${fromLine}\r\n`);
        answered.push(id);
      };
      const release = hang('a');
      const hanging = t.host.read('a', { fromLine: 0, limit: 1 }).catch(() => undefined);
      const asked = [...numbers(201, 220).map((n) => ask('a', 1000 * Number(n))), ask('b', 1000)];
      await t.host.list(); // What was asked before this has arrived.
      release();
      await Promise.all([hanging, ...asked]);
      expect(answered.indexOf('b')).toBeLessThan(3);
    });

    // How much was read is counted by /proc, which Linux has, where CI runs it.
    it.runIf(process.platform === 'linux')('reads little more than that', async () => {
      const read = (): number =>
        Number(/rchar: (\d+)/.exec(readFileSync(`/proc/${t.host.pid}/io`, 'utf8'))?.[1]);
      const before = read();
      for (let line = 1000; line < 200_000; line += 4000) {
        const { bytes, firstLine } = await t.host.read('a', { fromLine: line, limit: 1 });
        expect([firstLine, bytes.toString()]).toEqual([line, `${line}\r\n`]);
      }
      expect(read() - before).toBeLessThan(12 * megabyte);
    });

    it('writes all the same while a read hangs', async () => {
      const release = hang('b');
      const hanging = expect(t.host.read('b', { fromLine: 0, limit: 1 })).rejects.toMatchObject({
        code: 'output_unreadable',
      });
      await print('c', 1000);
      release();
      await hanging;
    });
  });

  // /dev/full is of Linux, where CI runs it.
  it.runIf(process.platform === 'linux')('survives a log that cannot be written, and goes on', async () => {
    const folder = mkdtempSync(join(dir, 'log-'));
    const told = join(folder, 'told');
    // Notes one thing after the other, and tells how many exceptions that has made.
    const fail = `
      import { writeFileSync } from 'node:fs';
      let exceptions = 0;
      process.on('uncaughtExceptionMonitor', () => exceptions++);
      process.on('SIGUSR2', () => {
        const note = (turns) => {
          if (turns > 90) console.error('a note');
          if (turns > 0) setImmediate(note, turns - 1);
          else writeFileSync(${JSON.stringify(told)}, String(exceptions));
        };
        note(100);
      });`;
    const full = ['sh', '-c', 'exec "$@" 2>/dev/full', 'sh'];
    const [node, bundle] = hostProgram;
    const preload = `data:text/javascript,${encodeURIComponent(fail)}`;
    await using t = await startTestHost({
      panes: join(folder, 'panes'),
      spawn: [...full, node, '--import', preload, bundle],
    });
    process.kill(t.host.pid, 'SIGUSR2');
    await until(() => existsSync(told) && readFileSync(told, 'utf8') !== '');
    expect(readFileSync(told, 'utf8')).toBe('0');
    expect((await t.run(['echo', 'alive'])).output).toBe('alive\r\n');
  });

  it.runIf(canPreload).each([
    ['full', 'ENOSPC'],
    ['nearly full', '16 MB'],
    ['stuck', null],
  ])('goes on with a disk that is %s, and tells afterwards what is missing', async (fault, why) => {
    const folder = mkdtempSync(join(dir, 'faults-'));
    await using t = await startTestHost({
      panes: join(folder, 'panes'),
      spawn: ['env', `LD_PRELOAD=${buildFaults(folder)}`, `POLY_FAULTS=${folder}`, ...hostProgram],
    });
    const { host } = t;
    // After an empty line all have 1000 bytes.
    const print = 'while read count; do seq -f "%0999g" 1 $count; done';
    await host.open({ id: 'a', argv: ['sh', '-c', `stty -echo -onlcr; echo; ${print}`], ...keep });
    const print1000s = async (count: number, end: number): Promise<void> => {
      await host.write('a', Buffer.from(`${count}\n`));
      await until(async () => (await host.read('a', { tail: 0 })).end === end);
    };
    await until(async () => (await host.read('a', { tail: 0 })).end === 1);
    await print1000s(100, 100_001);
    await until(async () => (await host.disk()).bytes === 100_001);

    writeFileSync(join(folder, fault), '');
    await print1000s(1000, 1_100_001);
    const newest = await host.read('a', { tail: 1 });
    expect(newest).toMatchObject({ retainedFrom: 0, firstLine: 1100 });
    expect(newest.bytes.toString()).toBe(`${'1000'.padStart(999, '0')}\n`);
    if (why) await until(async () => (await host.disk()).problem?.includes(why));

    rmSync(join(folder, fault));
    await print1000s(10, 1_110_001);
    const { lost, bytes } = await until(async () => {
      const state = await host.disk();
      return state.lost + state.bytes === 1_110_001 && state;
    });
    expect((await host.disk()).problem).toBe(null);
    expect(lost).toBeGreaterThan(400_000);
    const before = await host.read('a', { since: 0 });
    expect(before).toMatchObject({ from: 0, firstLine: 0, more: true, truncated: false });
    const after = await host.read('a', { since: before.next });
    expect(after).toMatchObject({ from: before.next + lost, next: 1_110_001, truncated: true });
    expect(after.firstLine).toBe(1 + (after.from - 1) / 1000);
    expect(await host.read('a', { fromLine: 500, limit: 1 })).toMatchObject({
      from: after.from,
      firstLine: after.firstLine,
      truncated: true,
    });
    const { matches } = await host.search('a', { pattern: '010$' });
    expect([matches[0]?.line, matches.at(-1)?.line]).toEqual([1110, 10]);
    for await (const item of host.follow('a')) {
      if ('bytes' in item) continue;
      expect(item).toEqual({ lostFrom: before.next, lostTo: after.from });
      break;
    }
    expect((await outputOf(host, 'a')).length).toBe(bytes);
  });
});
