import { execFileSync, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import xterm from '@xterm/headless';
import { describe, expect, it } from 'vitest';
import { startTimeOf } from '../src/host/process-table.ts';
import { TestHub, until } from './test-hub.ts';

const counting = ['sh', '-c', 'i=0; while :; do i=$((i+1)); echo "line $i"; sleep 0.1; done'];

async function read(hub: TestHub, paneId: string) {
  const { lines = [] } = await hub.client.call('pane:read', { paneId, tail: 100_000 });
  return lines.map(({ text }) => text);
}

/** How many lines a counting pane has printed, with every one before the last in its place. */
async function counted(hub: TestHub, paneId: string): Promise<number> {
  const lines = await read(hub, paneId);
  lines.forEach((line, index) => {
    if (index < lines.length - 1) expect(line).toBe(`line ${index + 1}`);
  });
  return lines.length;
}

/** Waits until the disk has all that a pane has printed. */
async function isWritten(hub: TestHub, id: string): Promise<void> {
  const { next } = await hub.client.call('pane:read', { paneId: id, tail: 0 });
  const folder = join(hub.dir, 'panes', id);
  await until(() => {
    if (!existsSync(folder)) return false; // It comes with the first bytes.
    const [last = ''] = readdirSync(folder).toSorted(
      (a, b) => Number.parseInt(b, 10) - Number.parseInt(a, 10),
    );
    return Number.parseInt(last, 10) + statSync(join(folder, last)).size === next;
  });
}

const tmux = (hub: TestHub, ...args: string[]): string =>
  execFileSync('tmux', ['-L', hub.env.POLY_TMUX_SOCKET ?? '', ...args], { encoding: 'utf8' });

describe('a hub that is killed', () => {
  it('finds every pane again, with all it printed before, meanwhile and after', async () => {
    await using hub = await TestHub.start();
    await hub.client.call('session:start', {});
    const panes = await Promise.all(
      (['pty', 'tmux', 'pty', 'tmux'] as const).map((backend) =>
        hub.client.call('pane:new', { argv: counting, backend, meta: { backend } }),
      ),
    );
    for (const { id } of panes) await until(async () => (await counted(hub, id)) > 10);
    for (let round = 0; round < 3; round++) {
      const before = await Promise.all(panes.map(({ id }) => counted(hub, id)));
      await hub.kill('SIGKILL');
      await hub.start();
      const listed = await hub.client.call('pane:list', {});
      expect(new Set(listed.map(({ id, status, pid }) => `${id} ${status} ${pid}`))).toEqual(
        new Set(panes.map(({ id, pid }) => `${id} running ${pid}`)),
      );
      for (const [index, { id }] of panes.entries()) {
        await until(async () => (await counted(hub, id)) > (before[index] ?? 0) + 10);
      }
    }
  });

  it('tells once of a pane that ended meanwhile', async () => {
    await using hub = await TestHub.start();
    await hub.client.call('session:start', {});
    const panes = await Promise.all(
      (['pty', 'tmux'] as const).map((backend) =>
        hub.client.call('pane:new', { argv: ['sh', '-c', 'read line; echo "got $line"; exit 5'], backend }),
      ),
    );
    for (const { id } of panes) await hub.client.call('pane:write', { paneId: id, data: 'go', enter: true });
    await hub.kill('SIGKILL');
    await until(() => panes.every(({ pid }) => !existsSync(`/proc/${pid}/cwd`)));
    for (let round = 0; round < 2; round++) {
      await hub.start();
      const { seq } = await hub.client.emit('looked', { round });
      const exits: unknown[] = [];
      for await (const event of hub.events('pane:exited,looked', { since: 0 })) {
        if (event.seq === seq) break;
        if (event.event === 'pane:exited') exits.push(event.payload);
      }
      const expected = panes.map(({ id }) => ({ paneId: id, exitCode: 5, exitSignal: null }));
      expect(exits).toHaveLength(2);
      expect(exits).toEqual(expect.arrayContaining(expected));
      for (const { id } of panes) expect(await read(hub, id)).toContain('got go');
      await hub.kill('SIGKILL');
    }
  });

  it('keeps every event that was acknowledged', async () => {
    await using hub = await TestHub.start();
    const acked: number[] = [];
    for (let round = 0; round < 3; round++) {
      let going = true;
      const writers = Array.from({ length: 8 }, async () => {
        while (going) acked.push((await hub.client.emit('kept', {})).seq);
      });
      const done = Promise.allSettled(writers);
      await until(() => acked.length > (round + 1) * 40);
      going = false;
      await hub.kill('SIGKILL');
      await done;
      await hub.start();
    }
    const { seq } = await hub.client.emit('end', {});
    const kept: number[] = [];
    for await (const event of hub.events('kept,end', { since: 0 })) {
      if (event.seq === seq) break;
      kept.push(event.seq);
    }
    expect(new Set(kept).size).toBe(kept.length);
    expect(acked.filter((one) => !kept.includes(one))).toEqual([]);
  });
});

describe('a host that is killed', () => {
  it('takes its pty panes with it, which is told, and tmux panes go on', async () => {
    await using hub = await TestHub.start();
    await hub.client.call('session:start', {});
    const lost = await hub.client.call('pane:new', { argv: counting, backend: 'pty' });
    const kept = await hub.client.call('pane:new', { argv: counting, backend: 'tmux' });
    const again = await hub.client.call('pane:new', { argv: counting, backend: 'pty', persist: true });
    await until(async () => (await counted(hub, kept.id)) > 5);
    hub.endHost();
    expect(
      (await hub.event('pane:exited', ({ payload }) => payload.paneId === lost.id)).payload,
    ).toMatchObject({
      exitCode: null,
      exitSignal: null,
    });
    await until(async () => (await read(hub, kept.id)).length > 5);
    const revived = await until(async () =>
      (await hub.client.call('pane:list', {})).find(
        ({ id, status, pid }) => id === again.id && status === 'running' && pid !== again.pid,
      ),
    );
    await until(async () => (await counted(hub, revived.id)) > 5);
    const fresh = await hub.client.call('pane:new', { argv: ['cat'], backend: 'pty' });
    await hub.client.call('pane:write', { paneId: fresh.id, data: 'alive', enter: true });
    await until(async () => (await read(hub, fresh.id)).includes('alive'));
  });
});

describe('a tmux pane whose host is killed while it prints', () => {
  it('misses no line that tmux has, in their order, and says that what its host had is gone', async () => {
    await using hub = await TestHub.start({ env: { PTY_MAX_BUFFER_LINES: '10000000' } });
    await hub.client.call('session:start', {});
    const stop = join(hub.home, 'stop');
    const { id } = await hub.client.call('pane:new', {
      argv: [
        'sh',
        '-c',
        `i=0; until [ -e ${stop} ]; do i=$((i+1)); echo "line $i"; done; echo done; exec cat`,
      ],
      backend: 'tmux',
    });
    const newest = async (): Promise<string> =>
      (await hub.client.call('pane:read', { paneId: id, tail: 1 })).lines?.[0]?.text ?? '';
    await until(newest);
    process.kill(hub.hostPid(), 'SIGKILL');
    await until(() => newest().catch(() => undefined));
    writeFileSync(stop, '');
    await until(async () => (await newest()) === 'done');
    const first = await hub.client.call('pane:read', { paneId: id, since: 0, limit: 1 });
    expect(first).toMatchObject({ truncated: true, from: first.retainedFrom });
    expect(await hub.client.call('pane:read', { paneId: id, fromLine: 1 })).toMatchObject({
      truncated: true,
    });
    const lines: string[] = [];
    for (let since = first.from, more = true; more; ) {
      const page = await hub.client.call('pane:read', { paneId: id, since, limit: 10_000 });
      lines.push(...(page.lines ?? []).map(({ text }) => text));
      ({ next: since, more } = page);
    }
    const [begin = 0] = lines.map((line) => Number(line.slice(5)));
    expect(lines.pop()).toBe('done');
    expect(lines.findIndex((line, index) => line !== `line ${begin + index}`)).toBe(-1);
  });
});

describe('a tmux pane that a new host cannot take', () => {
  it('holds up nobody, and is taken as soon as it can be, with all it printed meanwhile', async () => {
    const bin = mkdtempSync(join(tmpdir(), 'poly-bin-'));
    const [fault, tried] = [join(bin, 'fault'), join(bin, 'tried')];
    const script = `#!/bin/sh\nif [ -e ${fault} ]; then echo >>${tried}; exit 1; fi\nPATH=\${PATH#*:} exec mkfifo "$@"\n`;
    writeFileSync(join(bin, 'mkfifo'), script, { mode: 0o755 });
    await using hub = await TestHub.start({ env: { PATH: `${bin}:${process.env.PATH}` } });
    await hub.client.call('session:start', {});
    const { id } = await hub.client.call('pane:new', {
      argv: ['sh', '-c', 'echo before; exec cat'],
      backend: 'tmux',
    });
    await until(async () => (await read(hub, id))[0] === 'before');
    writeFileSync(fault, '');
    process.kill(hub.hostPid(), 'SIGKILL');
    await until(() => existsSync(tried));
    const { id: other } = await hub.client.call('pane:new', { argv: ['cat'], backend: 'pty' });
    expect(await read(hub, other)).toEqual([]);
    for (const asked of [read(hub, id), hub.client.call('pane:search', { paneId: id, pattern: 'before' })]) {
      await expect(asked).rejects.toMatchObject({
        code: 'unavailable',
        message: expect.stringContaining('cannot be read for now'),
      });
    }
    await hub.client.call('pane:write', { paneId: id, data: 'meanwhile', enter: true });
    rmSync(fault);
    await until(async () => (await read(hub, id).catch((): string[] => [])).includes('meanwhile'));
    expect((await read(hub, id))[0]).toBe('before');
    rmSync(bin, { recursive: true });
  });
});

describe('a full-screen program in tmux whose host is killed', () => {
  const size = { cols: 80, rows: 24 };

  /** A program in tmux: what a terminal shows that is given all bytes that are kept of it, and what tmux shows. */
  async function run(hub: TestHub, script: string) {
    await hub.client.call('session:start', {});
    const { id } = await hub.client.call('pane:new', {
      argv: ['sh', '-c', script],
      ...{ backend: 'tmux', title: 'ours', ...size },
    });
    const drawn = async () => {
      const terminal = new xterm.Terminal({ ...size, allowProposedApi: true });
      for (let since = 0, more = true; more; ) {
        const page = await hub.client.call('pane:read', { paneId: id, since, view: 'raw' });
        await new Promise<void>((done) => terminal.write(Buffer.from(page.data ?? '', 'base64'), done));
        ({ next: since, more } = page);
      }
      const { active } = terminal.buffer;
      const line = (y: number) => active.getLine(active.baseY + y);
      return {
        lines: Array.from({ length: size.rows }, (_, y) => line(y)?.translateToString(true) ?? ''),
        cursor: { x: active.cursorX, y: active.cursorY },
        alternate: active.type === 'alternate',
        colour: (x: number, y: number) => line(y)?.getCell(x)?.getFgColor(),
        past: Array.from({ length: active.baseY }, (_, y) => active.getLine(y)),
        arrows: terminal.modes.applicationCursorKeysMode,
      };
    };
    const shown = async () => {
      const { lines, cursor, alternate } = await hub.client.call('pane:screen', { paneId: id });
      return { lines, cursor: { x: cursor.x, y: cursor.y }, alternate };
    };
    const type = (data: string) => hub.client.call('pane:write', { paneId: id, data, enter: true });
    return { id, drawn, shown, type };
  }

  it('is drawn from its bytes as tmux shows it, and goes on and off the screen', async () => {
    await using hub = await TestHub.start();
    const drawing = String.raw`seq 1 100; printf '\033[?1049h\033[2J\033[3;5H\033[31mred\033[0m\033[10;70H日本wide\033[24;1Hlast row\033[7;9H'`;
    const { id, drawn, shown, type } = await run(
      hub,
      `${drawing}; read one; printf drawn; read two; printf '\\033[?1049l'; echo left; exec cat`,
    );
    await until(
      async () => (await shown()).lines[23] === 'last row' && (await drawn()).lines[23] === 'last row',
    );
    process.kill(hub.hostPid(), 'SIGKILL');
    await until(async () => (await drawn().catch(() => undefined))?.lines[23] === 'last row');
    expect(await drawn()).toMatchObject({ ...(await shown()), alternate: true });
    expect((await drawn()).colour(4, 2)).toBe(1);
    await type('');
    await until(async () => (await drawn()).lines.join().includes('drawn'));
    expect(await drawn()).toMatchObject(await shown());
    await type('');
    await until(async () => (await read(hub, id)).includes('left'));
    expect((await drawn()).alternate).toBe(false);
    expect((await drawn()).lines.filter((line) => line !== '').at(-1)).toBe('left');
    expect(await read(hub, id)).toContain('70');
  });

  it('gives back the screen under it as it was, with its colours, its cursor and the line that had half left it', async () => {
    await using hub = await TestHub.start();
    const wide = 'w'.repeat(200);
    // The cursor stands in the middle, in a line of which the first part is history already.
    const under = String.raw`seq 1 30; printf '\033[H\033[2J'; printf '${wide}\n'; seq 1 21; printf '\033[32mgreen\033[0m ends'; printf '\033[12;3H'`;
    const over = String.raw`printf '\033[?1049h\033[2J\033[Hfull screen\033[2;20r\033[?1h\033[20;1H'`;
    const leave = String.raw`printf '\033[?1h\033[r\033[?1049l'; read three; printf there; exec cat`;
    const { drawn, shown, type } = await run(
      hub,
      `stty -echo; ${under}; ${over}; read one; printf 'a\\nb\\nc'; read two; ${leave}`,
    );
    const shows = (text: string) =>
      until(async () => (await drawn().catch(() => undefined))?.lines.join('\n').includes(text));
    await shows('full screen');
    process.kill(hub.hostPid(), 'SIGKILL');
    await shows('full screen');
    expect(await drawn()).toMatchObject({ ...(await shown()), alternate: true, arrows: true });
    // What scrolls in a part of the screen only does so still.
    await type('');
    await shows('c');
    expect(await drawn()).toMatchObject(await shown());
    await type('');
    await shows('green ends');
    const normal = await drawn();
    expect(normal).toMatchObject({ ...(await shown()), alternate: false });
    expect(normal.cursor).toEqual({ x: 2, y: 11 });
    expect(normal.colour(0, 23)).toBe(2);
    expect(normal.colour(6, 23)).not.toBe(2);
    // One line it was, and one line it is.
    expect(normal.past.at(-1)?.translateToString(true)).toBe('w'.repeat(80));
    expect(normal.lines[0]).toBe('w'.repeat(80));
    await type('');
    await shows('there');
    expect(await drawn()).toMatchObject(await shown());
  });

  it('that has ended while nobody listened leaves no full screen behind', async () => {
    await using hub = await TestHub.start({ config: '[output]\nkeep = "disk"\n' });
    const { drawn, shown } = await run(
      hub,
      String.raw`echo before; printf '\033[?1049h\033[2J\033[2;5rfull screen'; read one; printf '\033[r\033[?1049l\033[H\033[2J\033[3Jnew\n'; exec cat`,
    );
    await until(async () => (await drawn()).lines.join('\n').includes('full screen'));
    await hub.kill('SIGKILL');
    process.kill(hub.hostPid(), 'SIGKILL');
    tmux(hub, 'send-keys', '-t', 'poly:ours', 'Enter');
    await until(() => tmux(hub, 'capture-pane', '-p', '-t', 'poly:ours').startsWith('new'));
    await hub.start();
    await until(async () => (await drawn().catch(() => undefined))?.lines.includes('new'));
    expect((await drawn()).alternate).toBe(false);
    expect((await shown()).alternate).toBe(false);
  });
});

describe('a tmux pane whose pipe is cut while its host lives', () => {
  const flood = 'seq 1 100000';
  const argv = ['sh', '-c', `echo before; read go; ${flood}; echo after; exec cat`];
  const shows = (hub: TestHub, text: string): boolean =>
    tmux(hub, 'capture-pane', '-p', '-t', 'poly:ours').split('\n').includes(text);

  it.each(['memory', 'disk'])(
    'keeps in %s what it had, and tells the gap before what tmux still has',
    async (keep) => {
      const env = { PTY_MAX_BUFFER_LINES: '200000' };
      await using hub = await TestHub.start({ env, config: `[output]\nkeep = "${keep}"\n` });
      await hub.client.call('session:start', {});
      const { id } = await hub.client.call('pane:new', { argv, backend: 'tmux', title: 'ours' });
      await until(async () => (await read(hub, id))[0] === 'before');
      await hub.kill('SIGKILL');
      tmux(hub, 'pipe-pane', '-t', 'poly:ours');
      tmux(hub, 'send-keys', '-t', 'poly:ours', 'go', 'Enter');
      await until(() => shows(hub, 'after'));
      await hub.start();
      const tail = await until(async () => {
        const page = await hub.client.call('pane:read', { paneId: id, tail: 100_000 });
        return page.lines?.at(-1)?.text === 'after' && page;
      });
      // A tail lies together, and says that something before it is missing.
      expect(tail).toMatchObject({ truncated: true, retainedFrom: 0 });
      const last = (tail.lines ?? []).slice(0, -1).map(({ text }) => Number(text));
      expect(last.at(-1)).toBe(100_000);
      expect(last.findIndex((number, index) => number !== (last[0] ?? 0) + index)).toBe(-1);
      // Whoever reads from the beginning gets what was kept, then the gap.
      const first = await hub.client.call('pane:read', { paneId: id, since: 0 });
      expect(first.lines?.[0]?.text).toBe('before');
      expect(first).toMatchObject({ truncated: false, more: true });
      expect(first.next).toBeLessThan(tail.from);
      const second = await hub.client.call('pane:read', { paneId: id, since: first.next, limit: 1 });
      expect(second).toMatchObject({ truncated: true, from: tail.from });
      await hub.client.call('pane:write', { paneId: id, data: 'on', enter: true });
      await until(async () => (await read(hub, id)).at(-1) === 'on');
    },
  );

  it.each(['memory', 'disk'])(
    'tells every gap in what is kept in %s, and finds what is between them',
    async (keep) => {
      await using hub = await TestHub.start({ config: `[output]\nkeep = "${keep}"\n` });
      await hub.client.call('session:start', {});
      const { id } = await hub.client.call('pane:new', {
        argv: [
          'sh',
          '-c',
          String.raw`stty -echo; echo first; while read word; do printf '\033[H\033[2J\033[3J'; echo "$word"; done`,
        ],
        ...{ backend: 'tmux', title: 'ours' },
      });
      await until(async () => (await read(hub, id))[0] === 'first');
      const words = ['second', 'third', 'fourth'];
      for (const [round, word] of words.entries()) {
        if (keep === 'disk') await isWritten(hub, id);
        await hub.kill('SIGKILL');
        // What is on the disk outlives the host too.
        if (keep === 'disk' && round % 2 === 1) process.kill(hub.hostPid(), 'SIGKILL');
        else tmux(hub, 'pipe-pane', '-t', 'poly:ours');
        tmux(hub, 'send-keys', '-t', 'poly:ours', word, 'Enter');
        await until(() => shows(hub, word));
        await hub.start();
        await until(async () => (await read(hub, id).catch((): string[] => [])).includes(word));
      }
      const parts: unknown[] = [];
      for (let since = 0, more = true; more; ) {
        const page = await hub.client.call('pane:read', { paneId: id, since });
        parts.push([page.truncated, page.retainedFrom, (page.lines ?? []).map(({ text }) => text)]);
        ({ next: since, more } = page);
      }
      expect(parts).toEqual([[false, 0, ['first']], ...words.map((word) => [true, 0, [word]])]);
      const search = (pattern: string) => hub.client.call('pane:search', { paneId: id, pattern });
      const { matches, ...rest } = await search('^(first|second|third|fourth)$');
      expect(matches.map(({ text }) => text)).toEqual(['first', ...words].toReversed());
      expect(rest).toEqual({ more: false, complete: true });
      const poly = join(import.meta.dirname, '..', 'bin', 'poly');
      const told = spawnSync(poly, ['read', id, '--since', '0'], { env: hub.env, encoding: 'utf8' });
      expect(told.stdout.trim().split('\n')).toEqual(['first', ...words]);
      expect(told.stderr.trim().split('\n')).toEqual(
        matches
          .slice(0, -1)
          .toReversed()
          .map(({ n }) => `poly: something is missing before line ${n}.`),
      );
      // What stands for a gap is no line.
      expect((await search('^$')).matches).toEqual([]);
    },
    60_000,
  );

  it('is piped again by the hub that lives, with all that tmux has and nothing twice', async () => {
    await using hub = await TestHub.start();
    await hub.client.call('session:start', {});
    const { id } = await hub.client.call('pane:new', { argv: counting, backend: 'tmux', title: 'ours' });
    for (let round = 0; round < 2; round++) {
      const before = await until(() => counted(hub, id));
      tmux(hub, 'pipe-pane', '-t', 'poly:ours');
      await until(async () => (await counted(hub, id)) > before + 15);
    }
    expect(await hub.client.call('pane:read', { paneId: id, since: 0 })).toMatchObject({
      truncated: false,
      more: false,
    });
  });
});

describe('a tmux server that is killed', () => {
  it('is told, and only what is meant to persist starts again', async () => {
    await using hub = await TestHub.start();
    await hub.client.call('session:start', {});
    const lost = await hub.client.call('pane:new', { argv: counting, backend: 'tmux' });
    const again = await hub.client.call('pane:new', { argv: counting, backend: 'tmux', persist: true });
    await until(async () => (await counted(hub, lost.id)) > 5);
    const [line = ''] = tmux(hub, 'display-message', '-p', '#{pid}').split('\n');
    process.kill(Number(line), 'SIGKILL');
    await hub.event('pane:exited', ({ payload }) => payload.paneId === lost.id);
    await hub.event('session:stopped');
    const revived = await until(async () =>
      (await hub.client.call('pane:list', {})).find(
        ({ id, status, pid }) => id === again.id && status === 'running' && pid !== again.pid,
      ),
    );
    await until(async () => (await counted(hub, revived.id)) > 5);
    expect((await hub.client.call('pane:list', {})).find(({ id }) => id === lost.id)).toMatchObject({
      status: 'exited',
    });
  });

  it('has the end of each pane told, whatever that of another takes, and what persists started again', async () => {
    await using hub = await TestHub.start();
    await hub.client.call('session:start', {});
    const stubborn = ['sh', '-c', 'trap "" HUP TERM; echo ready; while :; do sleep 1; done'];
    await hub.client.call('pane:new', { id: 'stubborn', argv: stubborn, backend: 'tmux' });
    await hub.client.call('pane:new', { id: 'prompt', argv: ['cat'], backend: 'tmux' });
    for (const id of ['one', 'two'])
      await hub.client.call('pane:new', { id, argv: ['cat'], backend: 'tmux', persist: true });
    await until(async () => (await read(hub, 'stubborn')).includes('ready'));
    tmux(hub, 'kill-server');
    const told: unknown[] = [];
    for await (const { payload } of hub.events('pane:exited', { since: 0 })) {
      told.push((payload as { paneId: string }).paneId);
      if (told.length === 4) break;
    }
    expect(told.at(-1)).toBe('stubborn');
    await until(async () => {
      const panes = await hub.client.call('pane:list', {});
      const running = panes.filter(({ status }) => status === 'running');
      return running.map(({ id }) => id).join() === 'one,two';
    });
  });
});

describe('a tmux that cannot be asked', () => {
  it('leaves its panes what they were, until it can', async () => {
    await using hub = await TestHub.start();
    await hub.client.call('session:start', {});
    const { id, pid } = await hub.client.call('pane:new', { argv: ['cat'], backend: 'tmux' });
    await hub.kill('SIGKILL');
    const path = hub.env.PATH;
    hub.env.PATH = '/nowhere';
    await hub.start();
    expect(await hub.client.call('pane:list', {})).toMatchObject([{ id, pid, status: 'running' }]);
    expect(await hub.client.call('pane:new', { argv: ['/bin/cat'] })).toMatchObject({ backend: 'pty' });
    await hub.kill('SIGKILL');
    hub.env.PATH = path;
    await hub.start();
    await hub.client.call('pane:write', { paneId: id, data: 'still here', enter: true });
    await until(async () => (await read(hub, id)).includes('still here'));
  });
});

describe('a tmux server the hub no longer finds', () => {
  it('keeps its panes: what runs on there is neither dead nor killed', async () => {
    await using hub = await TestHub.start();
    await hub.client.call('session:start', {});
    const { id, pid } = await hub.client.call('pane:new', { argv: ['cat'], backend: 'tmux' });
    const begun = startTimeOf(pid ?? 0);
    const here = hub.env.POLY_TMUX_SOCKET;
    const restart = async (socket: string | undefined): Promise<void> => {
      await hub.kill('SIGTERM');
      hub.env.POLY_TMUX_SOCKET = socket;
      await hub.start();
    };
    await restart(`${here}-elsewhere`);
    await hub.client.call('session:start', {});
    expect(await hub.client.call('pane:list', {})).toMatchObject([{ id, pid, status: 'running' }]);
    await hub.client.call('session:stop', {});
    await restart(here);
    await hub.client.call('pane:write', { paneId: id, data: 'still here\r' });
    await until(async () => (await read(hub, id)).includes('still here'));
    expect(startTimeOf(pid ?? 0)).toBe(begun);
  });
});

/** Whether nobody answers at the socket of tmux. */
function isDead(hub: TestHub): boolean {
  try {
    return tmux(hub, 'list-sessions') === '';
  } catch {
    return true;
  }
}

// A socket is found again by /proc, which Linux has, where CI runs it.
describe.runIf(process.platform === 'linux')('a tmux server whose socket is gone', () => {
  it.each(['deleted', 'moved', 'taken by one that died'])('is found, and gets it back: %s', async (how) => {
    await using hub = await TestHub.start();
    await hub.client.call('session:start', {});
    const { id, pid } = await hub.client.call('pane:new', { argv: ['cat'], backend: 'tmux' });
    const server = tmux(hub, 'display-message', '-p', '#{pid}');
    const socket = tmux(hub, 'display-message', '-p', '#{socket_path}').trim();
    const hide = async (): Promise<void> => {
      if (how === 'moved') renameSync(socket, join(hub.home, 'moved'));
      else rmSync(socket);
      if (how !== 'taken by one that died') return;
      const other = tmux(hub, '-f', '/dev/null', 'new-session', '-d', '-P', '-F', '#{pid}');
      expect(other).not.toBe(server);
      process.kill(Number(other), 'SIGKILL');
      await until(async () => isDead(hub));
      expect(existsSync(socket)).toBe(true);
    };
    await hide();
    expect(await hub.client.call('session:status', {})).toMatchObject({ running: true });
    expect(await hub.client.call('session:start', {})).toMatchObject({ running: true });
    // Whoever asks with tmux itself finds the same server.
    expect(tmux(hub, 'display-message', '-p', '#{pid}')).toBe(server);
    await hide();
    const other = await hub.client.call('pane:new', { argv: ['cat'], backend: 'tmux' });
    await hub.kill('SIGKILL');
    await hide();
    await hub.start();
    expect(await hub.client.call('session:start', {})).toMatchObject({ running: true });
    expect(tmux(hub, 'display-message', '-p', '#{pid}')).toBe(server);
    expect(await hub.client.call('pane:list', {})).toMatchObject([
      { id, pid, status: 'running' },
      { id: other.id, pid: other.pid, status: 'running' },
    ]);
    await hub.client.call('pane:write', { paneId: id, data: 'still here', enter: true });
    await until(async () => (await read(hub, id)).includes('still here'));
    await hub.kill('SIGKILL');
    await hide();
    await hub.start();
    await hub.client.call('server:stop', { all: true });
    expect(await hub.ended()).toBe(0);
    await until(async () => !existsSync(`/proc/${server.trim()}`));
  });

  it('says so where the socket cannot come back, and what to do', async () => {
    const dir = mkdtempSync(join(tmpdir(), 'poly-socket-'));
    const POLY_TMUX_SOCKET = join(dir, 'in', 'tmux');
    mkdirSync(join(dir, 'in'), { mode: 0o700 });
    await using hub = await TestHub.start({ env: { POLY_TMUX_SOCKET } });
    await hub.client.call('session:start', {});
    const pid = execFileSync('tmux', ['-S', POLY_TMUX_SOCKET, 'display-message', '-p', '#{pid}'], {
      encoding: 'utf8',
    }).trim();
    try {
      renameSync(join(dir, 'in'), join(dir, 'out'));
      writeFileSync(join(dir, 'in'), 'no folder');
      const said = `tmux runs (pid ${pid}), but its socket ${POLY_TMUX_SOCKET} is gone`;
      const trouble = expect.stringContaining(said);
      expect(await hub.client.call('session:status', {})).toMatchObject({ running: false, trouble });
      await expect(hub.client.call('session:start', {})).rejects.toMatchObject({
        code: 'unavailable',
        message: trouble,
        hint: expect.stringContaining(`kill -USR1 ${pid}`),
      });
      rmSync(join(dir, 'in'));
      renameSync(join(dir, 'out'), join(dir, 'in'));
      expect(await hub.client.call('session:status', {})).toMatchObject({ running: true });
    } finally {
      process.kill(Number(pid), 'SIGKILL');
      rmSync(dir, { recursive: true, force: true });
    }
  });
});

describe('the tmux session', () => {
  it('leaves panes made by hand alone, and notices those of ours that are closed there', async () => {
    await using hub = await TestHub.start();
    await hub.client.call('session:start', {});
    tmux(hub, 'new-window', '-d', '-t', 'poly:', 'sleep 1000');
    const { id } = await hub.client.call('pane:new', { argv: ['cat'], title: 'ours' });
    tmux(hub, 'kill-window', '-t', 'poly:ours');
    await hub.event('pane:exited', ({ payload }) => payload.paneId === id);
    const other = await hub.client.call('pane:new', { argv: ['cat'] });
    await hub.client.call('pane:close', { paneId: other.id });
    expect(tmux(hub, 'list-panes', '-a').trim().split('\n')).toHaveLength(2);
  });

  it('is left to another hub that has panes in it, and tells of a program put into a pane by hand', async () => {
    await using hub = await TestHub.start();
    await hub.client.call('session:start', {});
    const { id, pid } = await hub.client.call('pane:new', { argv: ['sleep', '1000'], backend: 'tmux' });
    await using other = await TestHub.start({ env: { POLY_TMUX_SOCKET: hub.env.POLY_TMUX_SOCKET ?? '' } });
    await other.client.call('pane:new', { argv: ['cat'], backend: 'tmux' });
    await other.client.call('server:stop', { all: true });
    expect(await other.ended()).toBe(0);
    expect(await hub.client.call('pane:list', {})).toMatchObject([{ id, pid, status: 'running' }]);
    const [row = ''] = tmux(hub, 'list-panes', '-a', '-F', '#{pane_id} #{pane_pid}')
      .split('\n')
      .filter((line) => line.endsWith(` ${pid}`));
    tmux(hub, 'respawn-pane', '-k', '-t', row.split(' ', 1)[0] ?? '', 'exec sleep 1001');
    const another = Number(tmux(hub, 'display', '-p', '-t', row.split(' ', 1)[0] ?? '', '#{pane_pid}'));
    await until(async () => (await hub.client.call('pane:list', {}))[0]?.pid === another);
    await hub.client.call('pane:close', { paneId: id });
    await until(() => !existsSync(`/proc/${another}/cwd`));
  });

  it('tells who looks at it, and brings a pane to the front', async () => {
    await using hub = await TestHub.start();
    await hub.client.call('session:start', {});
    const behind = await hub.client.call('pane:new', { argv: ['cat'], title: 'behind' });
    const socket = hub.env.POLY_TMUX_SOCKET ?? '';
    const viewer = await hub.client.call('pane:new', {
      argv: ['tmux', '-L', socket, 'attach', '-t', 'poly'],
      backend: 'pty',
    });
    await hub.event('session:attached');
    await hub.client.call('pane:activate', { paneId: behind.id });
    await hub.event('pane:activated', ({ payload }) => payload.paneId === behind.id);
    expect(tmux(hub, 'display-message', '-p', '-t', 'poly:', '#{window_name}').trim()).toBe('behind');
    await hub.client.call('pane:close', { paneId: viewer.id });
    await hub.event('session:detached');
    expect((await hub.client.call('session:status', {})).running).toBe(true);
  });

  it('is refused as a backend while it is not there', async () => {
    await using hub = await TestHub.start();
    await expect(hub.client.call('pane:new', { argv: ['cat'], backend: 'tmux' })).rejects.toMatchObject({
      code: 'unavailable',
      hint: expect.stringContaining('poly session start'),
    });
    expect(await hub.client.call('pane:new', { argv: ['cat'] })).toMatchObject({ backend: 'pty' });
    await hub.client.call('session:start', {});
    expect(await hub.client.call('pane:new', { argv: ['cat'] })).toMatchObject({ backend: 'tmux' });
    await hub.client.call('session:stop', {});
    const events: string[] = [];
    const { seq } = await hub.client.emit('end', {});
    for await (const event of hub.events('session:*,end', { since: 0 })) {
      if (event.seq === seq) break;
      events.push(event.event);
    }
    expect(events).toEqual(['session:started', 'session:stopped']);
  });
});

describe('starting and stopping', () => {
  it('gives one hub, however many start at once', async () => {
    await using hub = await TestHub.start();
    const others = Array.from({ length: 10 }, () => hub.spawn());
    const codes = await Promise.all(others.map(async (child) => (await once(child, 'exit'))[0]));
    expect(codes).toEqual(Array(10).fill(4));
    expect(hub.errors).toContain('a hub runs already');
    expect(await hub.client.call('pane:list', {})).toEqual([]);
  });

  it.each(['', '0'])(
    'leaves the panes alone when only the hub stops, and keeps its port: "%s"',
    async (POLY_PORT) => {
      await using hub = await TestHub.start({ env: { POLY_PORT } });
      const { url } = hub.discovery;
      const { id, pid } = await hub.client.call('pane:new', { argv: counting });
      await hub.client.call('server:stop', {});
      expect(await hub.ended()).toBe(0);
      expect(existsSync(join(hub.dir, 'hub.json'))).toBe(false);
      expect(existsSync(`/proc/${pid}`)).toBe(true);
      await hub.start();
      expect(hub.discovery.url).toBe(url);
      await until(async () => (await counted(hub, id)) > 10);
    },
  );

  it('ends everything when told to, with readers attached', async () => {
    await using hub = await TestHub.start();
    await hub.client.call('session:start', {});
    const panes = await Promise.all(
      (['pty', 'tmux'] as const).map((backend) => hub.client.call('pane:new', { argv: counting, backend })),
    );
    const reading = hub.events('*');
    const first = reading.next();
    await hub.client.call('server:stop', { all: true });
    expect(await hub.ended()).toBe(0);
    await first;
    for await (const _ of reading); // Ends with the hub.
    for (const { pid } of panes) expect(existsSync(`/proc/${pid}`)).toBe(false);
    expect(() => tmux(hub, 'ls')).toThrow(/no server running|error connecting/);
    expect(readdirSync(join(hub.dir, 'host')).filter((name) => name.endsWith('.fifo'))).toEqual([]);
  });

  it('ends on SIGTERM, and survives the end of the terminal it was started from', async () => {
    await using hub = await TestHub.start();
    process.kill(hub.discovery.pid, 'SIGHUP');
    expect(await hub.client.call('pane:list', {})).toEqual([]);
    await hub.kill('SIGTERM');
    expect(await hub.ended()).toBe(0);
  });
});
