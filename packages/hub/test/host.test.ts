import { execFile } from 'node:child_process';
import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Followed } from '../src/host/client.ts';
import {
  env,
  outputOf,
  processesWith,
  size,
  soon,
  startTestHost,
  type TestHost,
  uniqueSeconds,
} from './host-setup.ts';

let t: TestHost;
beforeAll(async () => {
  t = await startTestHost();
});
afterAll(() => t[Symbol.asyncDispose]());

const script = (text: string): readonly string[] => ['sh', '-c', text];
const isDead = async (pid: number): Promise<boolean> =>
  !/^\d+ \(.*\) [^ZX]/.test(await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => ''));

describe('a program', () => {
  test.each([
    ['that is missing', { argv: ['no-such-program'] }, 'program_missing', 'ENOENT'],
    ['of an empty name', { argv: [''] }, 'program_missing', 'ENOENT'],
    ['that may not be run', { argv: ['/etc/passwd'] }, 'program_not_executable', 'EACCES'],
    ['that is a folder', { argv: ['/etc'] }, 'program_not_executable', 'EACCES'],
    ['in a folder that is missing', { argv: ['ls'], cwd: '/no/such' }, 'cwd_unusable', 'ENOENT'],
    ['in a folder that is a file', { argv: ['ls'], cwd: '/etc/passwd' }, 'cwd_unusable', 'ENOTDIR'],
    ['in a folder inside a file', { argv: ['ls'], cwd: '/etc/passwd/x' }, 'cwd_unusable', 'ENOTDIR'],
    ['with an argument of 200 KB', { argv: ['ls', 'x'.repeat(200_000)] }, 'invalid_parameters', 'E2BIG'],
  ])('%s is refused before there is a pane', async (_what, wrong, code, errno) => {
    const refused = t.host.open({ id: 'refused', cwd: '/', env, ...size, ...wrong });
    await expect(refused).rejects.toMatchObject({ code, details: { errno } });
    expect((await t.host.list()).map(({ id }) => id)).not.toContain('refused');
  });

  test('whose interpreter is missing is refused before there is a pane', async () => {
    const dir = await mkdtemp(join(tmpdir(), 'poly-host-'));
    await writeFile(join(dir, 'script'), '#!/no/such/shell\n', { mode: 0o755 });
    await expect(t.run([join(dir, 'script')])).rejects.toMatchObject({ code: 'program_missing' });
    await chmod(join(dir, 'script'), 0o755);
    await writeFile(join(dir, 'script'), '#!/bin/sh\necho fine\n');
    expect((await t.run(['./script'], { cwd: dir })).output).toBe('fine\r\n');
    await rm(dir, { recursive: true });
  });

  test.each([0, 7, 255])('that exits with %i is told so', async (code) => {
    expect(await t.run(script(`exit ${code}`))).toMatchObject({ exitCode: code, exitSignal: null });
  });

  test.each(['KILL', 'TERM', 'SEGV'])('that SIG%s ends has a signal and no code', async (signal) => {
    expect(await t.run(script(`kill -${signal} $$; sleep 9`))).toMatchObject({
      exitCode: null,
      exitSignal: `SIG${signal}`,
    });
  });

  test('has printed its last byte when its end is told, and that is told once', async () => {
    const told: string[] = [];
    const ends: Promise<void>[] = [];
    const forget = t.host.onExit((id) => {
      if (!id.startsWith('quick-')) return;
      told.push(id);
      ends.push(outputOf(t.host, id).then((output) => expect(output.length, id).toBe(20_002)));
    });
    const argv = ['head', '-c', '20000', '/dev/zero'];
    const ids = Array.from({ length: 20 }, (_, i) => `quick-${i}`);
    await Promise.all(
      ids.map(async (id) => {
        await t.host.open({
          id,
          argv: ['sh', '-c', `${argv.join(' ')} | tr '\\0' x; echo`],
          cwd: '/',
          env,
          ...size,
        });
        for await (const _ of t.host.follow(id));
      }),
    );
    await Promise.all(ends);
    await t.host.list();
    forget();
    expect(told.toSorted()).toEqual(ids.toSorted());
  });

  test('gets its arguments exactly', async () => {
    const args = ['', ' ', 'a b', '"\'`$x\\', 'line\nline', '-n', '--', 'é€𝄞', '*', 'x'.repeat(100_000)];
    const print = 'process.stdout.write(JSON.stringify(process.argv.slice(1)))';
    const { output } = await t.run([process.execPath, '-e', print, '--', ...args]);
    expect(JSON.parse(output)).toEqual(args);
    await expect(t.run(['echo', 'a\0b'])).rejects.toMatchObject({ code: 'invalid_parameters' });
  });

  test('is called by the name it was given', async () => {
    expect((await t.run(['sh', '-c', 'cat /proc/$$/cmdline | tr "\\0" " "'])).output).toMatch(/^sh -c /);
  });

  test('gets the environment it was given and nothing of the host, its terminals included', async () => {
    await t.open(['sleep', '1000']);
    const { output } = await t.run(['env'], {
      env: { ...env, MINE: 'a\nb', BASH_ENV: '/no/such', 'odd-name': '1' },
    });
    const names = [...output.matchAll(/^([\w-]+)=/gm)].map(([, name]) => name).toSorted();
    expect(names).toEqual(
      // bash, which lets go of the terminals of others on the way, adds PWD and SHLVL.
      ['BASH_ENV', 'HOME', 'MINE', 'PATH', 'POLY_HOST', 'POLY_PANE', 'PWD', 'SHLVL', 'TERM', 'odd-name'],
    );
    expect(output).toContain('MINE=a\r\nb\r\n');
    expect((await t.run(['ls', '/proc/self/fd'])).output.trim().split(/\s+/)).toEqual(['0', '1', '2', '3']);
  });

  test('has a terminal of the size it was given, and is told of another', async () => {
    const { id } = await t.open(
      script('trap "stty size; exit" WINCH; stty size; while :; do sleep 0.05; done'),
    );
    await t.printed(id, '24 80');
    await t.host.resize(id, 132, 50);
    await t.printed(id, '50 132');
    await expect(t.host.resize(id, 0, 5)).rejects.toMatchObject({ code: 'invalid_parameters' });
    await expect(t.host.resize(id, 80, 65_535)).rejects.toMatchObject({ code: 'invalid_parameters' });
  });

  test('of an id that is taken is refused', async () => {
    const { id } = await t.open(['true']);
    await expect(t.host.open({ id, argv: ['true'], cwd: '/', env, ...size })).rejects.toMatchObject({
      code: 'duplicate_pane',
    });
  });

  test('that is one of many started at once keeps nobody waiting', async () => {
    let opened = 0;
    const storm = Array.from({ length: 30 }, () => t.open(['true']).then(() => (opened += 1)));
    await t.host.list();
    expect(opened).toBeLessThan(storm.length / 2);
    await Promise.all(storm);
  });
});

describe('a kill', () => {
  test('ends who ignores hints after the grace, and answers when death was seen', async () => {
    const { id, pid } = await t.open(script("trap '' HUP TERM INT; echo ready; while :; do sleep 0.1; done"));
    await t.printed(id, 'ready');
    const started = performance.now();
    expect(await t.host.kill(id, { graceMs: 300 })).toEqual({ exitCode: null, exitSignal: 'SIGKILL' });
    expect(performance.now() - started).toBeGreaterThan(290);
    expect(await isDead(pid)).toBe(true);
  });

  test('leaves time to end by itself', async () => {
    const { id } = await t.open(
      script(
        "trap 'sleep 0.2; echo saved; exit 5' HUP; trap '' TERM; echo ready; while :; do sleep 0.05; done",
      ),
    );
    await t.printed(id, 'ready');
    expect(await t.host.kill(id, { graceMs: 20_000 })).toEqual({ exitCode: 5, exitSignal: null });
    expect(await outputOf(t.host, id)).toContain('saved');
  });

  test.each([
    ['in the background', (s: string) => `sleep ${s} & sleep ${s}`],
    ['in a session of its own', (s: string) => `setsid sleep ${s} & sleep ${s}`],
    ['twice forked away', (s: string) => `(setsid sh -c 'sleep ${s} & exec sleep ${s}' &) ; sleep ${s}`],
    ['without an environment', (s: string) => `env -i sleep ${s} & sleep ${s}`],
    [
      'deaf, away and on its own',
      (s: string) => `setsid sh -c 'trap "" HUP TERM; sleep ${s}; :' & sleep ${s}`,
    ],
    ['stopped', (s: string) => `sh -c 'kill -STOP $$; sleep ${s}' & sleep ${s}`],
  ])('leaves nothing of what was started %s', async (_how, text) => {
    const seconds = uniqueSeconds();
    const { id } = await t.open(script(text(seconds)));
    await expect.poll(() => processesWith(seconds).length, soon).toBeGreaterThan(2);
    await t.host.kill(id, { graceMs: 1_000 });
    expect(processesWith(seconds)).toEqual([]);
  });

  test('can be asked for again, also at once and after the end', async () => {
    const { id } = await t.open(['sleep', '1000']);
    const exit = { exitCode: null, exitSignal: 'SIGHUP' };
    expect(await Promise.all([t.host.kill(id), t.host.kill(id)])).toEqual([exit, exit]);
    expect(await t.host.kill(id)).toEqual(exit);
    await expect(t.host.kill('nobody')).rejects.toMatchObject({ code: 'unknown_pane' });
  });

  test('of a tree by its first process spares a process that has the number by now', async () => {
    const { id, pid } = await t.open(['sleep', '1000']);
    await t.host.killTree({ id: 'somebody', pid, startTime: 'long ago' });
    expect(await isDead(pid)).toBe(false);
    await t.host.killTree({ id: 'somebody', pid });
    expect(await isDead(pid)).toBe(true);
    for await (const _ of t.host.follow(id));
  });

  test('of the tree of an ended pane finds what it has left behind', async () => {
    const seconds = uniqueSeconds();
    const { id } = await t.open(script(`trap '' HUP; setsid sleep ${seconds} & sleep 0.2`));
    for await (const _ of t.host.follow(id));
    expect(processesWith(seconds)).not.toEqual([]);
    expect(await t.host.kill(id)).toEqual({ exitCode: 0, exitSignal: null });
    expect(processesWith(seconds)).toEqual([]);
  });
});

describe('typing', () => {
  test('into an ended pane fails', async () => {
    const { id } = await t.open(['true']);
    for await (const _ of t.host.follow(id));
    await expect(t.host.write(id, Buffer.from('x'))).rejects.toMatchObject({ code: 'pane_exited' });
  });

  test('by many at once keeps each piece whole and in order', async () => {
    const { id } = await t.open(script('stty raw -echo; echo ready; exec head -c 500000'));
    await t.printed(id, 'ready');
    const another = await t.connect();
    const pieces = Array.from({ length: 50 }, (_, i) => `<${String(i).padStart(2)}${'x'.repeat(9_996)}>`);
    const written = pieces.map((piece, i) => (i % 2 ? t.host : another).write(id, Buffer.from(piece)));
    expect(await Promise.all(written)).toEqual(pieces.map(() => 10_000));
    for await (const _ of t.host.follow(id));
    const found =
      (await outputOf(t.host, id))
        .replace('ready\r\n', '')
        .replace('ready\n', '')
        .match(/<[^<>]*>/g) ?? [];
    expect(found.toSorted()).toEqual(pieces);
    const order = (odd: number): string[] => found.filter((piece) => Number(piece.slice(1, 3)) % 2 === odd);
    expect(order(0)).toEqual(order(0).toSorted());
    expect(order(1)).toEqual(order(1).toSorted());
  });

  test('to a program that does not read keeps nobody else waiting, and is refused when it is too much', async () => {
    const deaf = await t.open(script('stty raw -echo; echo ready; exec sleep 1000'));
    await t.printed(deaf.id, 'ready');
    const stuck = t.host.write(deaf.id, Buffer.alloc(4_000_000, 'x'));
    const more = t.host.write(deaf.id, Buffer.alloc(1_000_000, 'x'));
    await expect(more).rejects.toMatchObject({ code: 'input_full' });
    const { id } = await t.open(['cat']);
    await t.host.write(id, Buffer.from('heard\r'));
    await t.printed(id, 'heard');
    const failed = expect(stuck).rejects.toMatchObject({ code: 'pane_exited' });
    await t.host.kill(deaf.id);
    await failed;
  });
});

describe('output', () => {
  test('of a flood is kept to the newest lines, whose numbers stay', async () => {
    const { id } = await t.open(script('seq 1 120000; sleep 1000'));
    await t.printed(id, '120000');
    const page = await t.host.read(id, { tail: 1 });
    expect(page).toMatchObject({ firstLine: 119_999, more: false, truncated: false });
    expect(page.bytes.toString()).toBe('120000\r\n');
    const old = await t.host.read(id, { fromLine: 10, limit: 1 });
    expect(old).toMatchObject({ firstLine: 70_000, truncated: true, from: old.retainedFrom });
    expect(old.bytes.toString()).toBe('70001\r\n');
  });

  test('is read by nobody without stalling the program', async () => {
    const { exitCode } = await t.run(script("head -c 30000000 /dev/zero | tr '\\0' x"));
    expect(exitCode).toBe(0);
    const last = (await t.host.list()).at(-1);
    expect(last?.end).toBe(30_000_000);
    expect((last?.end ?? 0) - (last?.start ?? 0)).toBeLessThanOrEqual(16 * 1024 * 1024);
  });

  test.each([{ tail: -1 }, { since: 1.5 }, { limit: Number.NaN }, { tail: 1, since: 1 }])(
    'is not read by %j',
    async (query) => {
      const { id } = await t.open(['true']);
      await expect(t.host.read(id, query)).rejects.toMatchObject({ code: 'invalid_parameters' });
    },
  );

  test('is followed from any byte, up to the end of the pane', async () => {
    const { id } = await t.open(['seq', '1', '30000']);
    const [whole, rest] = await Promise.all(
      [0, 1_000].map(async (from) => {
        const parts: Buffer[] = [];
        for await (const chunk of t.host.follow(id, { from })) {
          if (!('bytes' in chunk)) throw new Error('gap');
          expect(chunk.offset).toBe(from + Buffer.concat(parts).length);
          parts.push(chunk.bytes);
        }
        return Buffer.concat(parts).toString();
      }),
    );
    expect(whole).toBe(Array.from({ length: 30_000 }, (_, i) => `${i + 1}\r\n`).join(''));
    expect(rest).toBe(whole?.slice(1_000));
  });

  test('that a slow follower was too late for is told as a gap, and nobody else waits for it', async () => {
    const { id } = await t.open(script("stty -echo; read go; head -c 60000000 /dev/zero | tr '\\0' x"));
    const slow = t.host.follow(id)[Symbol.asyncIterator]();
    const begun = slow.next();
    await t.host.write(id, Buffer.from('\r'));
    const first = await begun;
    expect(first.value).toMatchObject({ offset: 0 });
    /** Reads to the end and answers how much came and how much was lost, both without a hole between. */
    const rest = async (items: AsyncIterator<Followed>, begun: number): Promise<[number, number]> => {
      let [seen, lost] = [begun, 0];
      for (let item = await items.next(); !item.done; item = await items.next()) {
        const at = 'bytes' in item.value ? item.value.offset : item.value.lostFrom;
        expect(at).toBe(seen + lost);
        if ('bytes' in item.value) seen += item.value.bytes.length;
        else lost += item.value.lostTo - item.value.lostFrom;
      }
      return [seen, lost];
    };
    const [quick, missed] = await rest(t.host.follow(id)[Symbol.asyncIterator](), 0);
    const { end } = await t.host.read(id);
    expect(end).toBeGreaterThanOrEqual(60_000_000);
    expect(quick + missed).toBe(end);
    const [seen, lost] = await rest(
      slow,
      first.value && 'bytes' in first.value ? first.value.bytes.length : 0,
    );
    expect(lost).toBeGreaterThan(0);
    expect(seen + lost).toBe(end);
  });

  test('is no longer followed when that is aborted or left', async () => {
    const { id } = await t.open(script('echo one; sleep 1000'));
    const stop = new AbortController();
    const left = (async () => {
      for await (const _ of t.host.follow(id, { signal: stop.signal })) stop.abort(new Error('enough'));
    })();
    await expect(left).rejects.toThrow('enough');
    for await (const _ of t.host.follow(id)) break;
    await expect(t.host.follow('nobody')[Symbol.asyncIterator]().next()).rejects.toMatchObject({
      code: 'unknown_pane',
    });
  });

  test('of one pane in a flood lets another pane answer at once', async () => {
    const floods = await Promise.all([t.open(['yes']), t.open(['yes'])]);
    const { id } = await t.open(['cat']);
    const started = performance.now();
    for (let i = 0; i < 20; i++) {
      await t.host.write(id, Buffer.from(`${i}.\r`));
      await t.printed(id, `${i}.\r\n${i}.`);
    }
    expect((performance.now() - started) / 20).toBeLessThan(250);
    await Promise.all(floods.map((flood) => t.host.kill(flood.id)));
  });

  test('is dropped with its pane when that is forgotten, which a running one is not', async () => {
    const { id } = await t.open(['sleep', '1000']);
    await expect(t.host.forget(id)).rejects.toMatchObject({ code: 'pane_running' });
    await t.host.kill(id);
    await t.host.forget(id);
    await expect(t.host.read(id)).rejects.toMatchObject({ code: 'unknown_pane' });
  });
});

describe('a screen', () => {
  const draw = "printf '\\033[?1049h\\033[H\\033[2Jtop\\033[5;3Hhere\\033[?25l\\033]2;name\\007'";

  test('shows what a program has drawn before and after somebody looks', async () => {
    const { id } = await t.open(script(`${draw}; read x; printf '\\033[?25h\\033[?1049lback'; sleep 1000`));
    await t.printed(id, 'name');
    const before = await t.host.screen(id);
    expect(before).toMatchObject({
      ...size,
      cursor: { x: 6, y: 4, visible: false },
      title: 'name',
      alternate: true,
      resynced: false,
    });
    expect(before.lines).toHaveLength(24);
    expect(before.lines.slice(0, 5)).toEqual(['top', '', '', '', '  here']);
    await t.host.write(id, Buffer.from('\r'));
    await t.printed(id, 'back');
    const after = await t.host.screen(id);
    expect(after).toMatchObject({ alternate: false, cursor: { visible: true } });
    expect(after.lines.join('')).toContain('back');
  });

  test('answers what a program asks its terminal once, and not for what was asked before it was there', async () => {
    const ask = "stty raw -echo; printf '\\033[c'; timeout --foreground 0.7 cat | od -An -c; echo done";
    const seen = await t.open(script(ask), { screen: true });
    await t.printed(seen.id, 'done');
    expect((await outputOf(t.host, seen.id)).match(/033/g)).toHaveLength(1);
    const unseen = await t.open(
      script(`stty raw -echo; printf '\\033[casked'; timeout --foreground 1 cat | od -An -c; echo done`),
    );
    await t.printed(unseen.id, 'asked');
    await t.host.screen(unseen.id);
    await t.host.screen(unseen.id);
    await t.printed(unseen.id, 'done');
    expect(await outputOf(t.host, unseen.id)).not.toMatch(/033/);
  });

  test('tells a program its colours', async () => {
    const { id } = await t.open(
      script(`stty raw -echo; printf '\\033]11;?\\007\\033]11;#ff0000\\007\\033]10;?\\033\\\\'
        head -c 50 | tr '\\033' '^'; echo done`),
      { screen: true },
    );
    await t.printed(id, 'done');
    expect(await outputOf(t.host, id)).toContain('^]11;rgb:0d0d/1010/1717^\\^]10;rgb:d3d3/d9d9/e4e4^\\done');
  });

  test('of a flood is seen while it lasts', async () => {
    const { id } = await t.open(['yes', 'flood'], { screen: true });
    await t.printed(id, 'flood');
    for (let i = 0; i < 5; i++) await t.host.screen(id);
    expect((await t.host.screen(id)).lines[3]).toBe('flood');
    await t.host.kill(id);
  });

  test('that has fallen behind passes over what it missed, says so, and shows the newest', async () => {
    const { fifo } = await t.host.adopt({ id: 'behind', ...size });
    await t.host.screen('behind');
    await promisify(execFile)('sh', ['-c', 'seq 1 6000000 > "$0"; printf last > "$0"', fifo]);
    await t.host.finish('behind', { exitCode: 0, exitSignal: null });
    const shown = async (): Promise<string> => (await t.host.screen('behind')).lines.join(' ');
    await expect.poll(shown, { timeout: 10_000 }).toContain('last');
    expect((await t.host.screen('behind')).resynced).toBe(true);
  });

  test('has the size of its pane', async () => {
    const { id } = await t.open(['cat']);
    await t.host.screen(id);
    await t.host.resize(id, 100, 30);
    expect(await t.host.screen(id)).toMatchObject({ cols: 100, rows: 30 });
  });
});
