import { execFile, execFileSync, spawnSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { capture, captured, folder, gauges, prompt, rows, script } from './capture-ground.ts';
import { TestHub, until } from './test-hub.ts';

/** Puts files into the journal once more; each appears there whole, as those of a hook do. */
function putBack(hub: TestHub, kept: string): void {
  const journal = join(hub.dir, 'journal');
  for (const name of readdirSync(kept)) {
    cpSync(join(kept, name), join(journal, name), { preserveTimestamps: true });
    renameSync(join(journal, name), join(journal, 'new', name));
  }
}

describe.concurrent('capture', () => {
  it('takes each event once and in order, whether the hub runs, hangs or is gone, and leaves the journal empty', async () => {
    await using hub = await TestHub.start();
    const say = async (from: number): Promise<void> => {
      for (let i = from; i < from + 5; i++) expect(await capture(hub, prompt(`s${i % 2}`, `${i}`))).toBe('0');
    };
    await say(0);
    process.kill(hub.discovery.pid, 'SIGSTOP');
    await say(5);
    process.kill(hub.discovery.pid, 'SIGCONT');
    await captured(hub, 10);
    await hub.kill('SIGKILL');
    await say(10);
    await hub.start();
    const all = await captured(hub, 15);
    expect(new Set(all.map(({ captureId }) => captureId)).size).toBe(15);
    await until(() => folder(hub, 'new').length === 0 && folder(hub, 'tmp').length === 0);
    await hub.kill('SIGTERM');
    const told = rows(hub).map(({ normalised }) => JSON.parse(normalised));
    expect(told.map(({ text }) => text)).toEqual(Array.from({ length: 15 }, (_, i) => `${i}`));
    expect(told.map(({ session }) => session)).toEqual(Array.from({ length: 15 }, (_, i) => `s${i % 2}`));
    expect(new Set(told.map(({ by }) => by))).toEqual(new Set(['user']));
  });

  it('takes no event twice when the hub was killed before it had forgotten the file', async () => {
    await using hub = await TestHub.start();
    await hub.kill('SIGTERM');
    await capture(hub, prompt('s', 'once'));
    const kept = join(hub.home, 'kept');
    cpSync(join(hub.dir, 'journal', 'new'), kept, { recursive: true, preserveTimestamps: true });
    await hub.start();
    await captured(hub, 1);
    await until(() => folder(hub, 'new').length === 0);
    putBack(hub, kept);
    await until(() => folder(hub, 'new').length === 0);
    await capture(hub, prompt('s', 'later'));
    await captured(hub, 2);
    await hub.kill('SIGTERM');
    expect(rows(hub).map(({ normalised }) => JSON.parse(normalised).text)).toEqual(['once', 'later']);
  });

  it('takes once what a plugin and installed hooks both tell, and truly equal events as often as they happened', async () => {
    await using hub = await TestHub.start();
    const plugin = join(hub.home, 'plugin.sh');
    cpSync(script, plugin);
    const text = async (session: string, ...told: readonly (string | undefined)[]): Promise<void> => {
      for (const from of told)
        expect(await capture(hub, prompt(session, 'equal'), from === undefined ? {} : { from })).toBe('0');
    };
    // Each by both, in any order; of the last only one installation told.
    await text('both', script, plugin);
    await text('other way', plugin, script);
    await text('twice', script, plugin, plugin, script);
    await text('late', script, script, plugin, plugin);
    await text('one', script, script, script);
    await Promise.all([text('at once', script), text('at once', plugin)]);
    await hub.kill('SIGKILL');
    await hub.start();
    await text('end', plugin);
    const sessions = (await captured(hub, 11))
      .map(({ sessionId }) => sessionId)
      .filter((one) => one !== 'end');
    const expected = { both: 1, 'other way': 1, twice: 2, late: 2, one: 3, 'at once': 1 };
    for (const [session, count] of Object.entries(expected))
      expect([session, sessions.filter((one) => one === session).length]).toEqual([session, count]);
  });

  it('knows the second telling of an event also where the hub was killed in between, before or after it forgot the file', async () => {
    await using hub = await TestHub.start();
    const plugin = join(hub.home, 'plugin.sh');
    cpSync(script, plugin);
    await capture(hub, prompt('s', 'x'));
    await captured(hub, 1);
    await hub.kill('SIGKILL');
    await capture(hub, prompt('s', 'x'), { from: plugin });
    const kept = join(hub.home, 'kept');
    cpSync(join(hub.dir, 'journal', 'new'), kept, { recursive: true, preserveTimestamps: true });
    await hub.start();
    await until(() => folder(hub, 'new').length === 0);
    putBack(hub, kept);
    await until(() => folder(hub, 'new').length === 0);
    await capture(hub, prompt('s', 'later'));
    await captured(hub, 2);
    await hub.kill('SIGTERM');
    expect(rows(hub).map(({ normalised }) => JSON.parse(normalised).text)).toEqual(['x', 'later']);
  });

  it('keeps what is no JSON, no text or bottomless, byte for byte, and 5 MB of it', async () => {
    await using hub = await TestHub.start();
    const payloads = [
      Buffer.from([0xff, 0xfe, 0x00, 0x0a, 0x0a, 0xc3, 0x28]),
      Buffer.from('{"hook_event_name":"New\\u0000Event","session_id":"\\ud800","field":"kept"}'),
      Buffer.from(
        `{"hook_event_name":"PreToolUse","session_id":"deep","tool_input":${'['.repeat(200_000)}${']'.repeat(200_000)}}`,
      ),
      Buffer.from(prompt('large', 'x'.repeat(5 * 1024 * 1024))),
      Buffer.from(''),
      Buffer.from('{"half":'),
    ];
    for (const payload of payloads) expect(await capture(hub, payload)).toBe('0');
    await captured(hub, payloads.length);
    await hub.kill('SIGTERM');
    const kept = rows(hub);
    expect(
      kept.map(({ raw }) => raw.equals(payloads[kept.findIndex((row) => row.raw === raw)] as Buffer)),
    ).toEqual(payloads.map(() => true));
    expect(kept.map(({ kind }) => kind)).toEqual([
      'other',
      'other',
      'tool_started',
      'prompt',
      'other',
      'other',
    ]);
  });

  it('proves the pane by its credential, and takes nobody’s word for it', async () => {
    await using hub = await TestHub.start();
    const token = await hub.paneToken('mine');
    await hub.paneToken('other');
    await capture(hub, prompt('a', 'x'), { env: { POLY_PANE: 'mine', POLY_TOKEN: token } });
    await capture(hub, prompt('b', 'x'), { env: { POLY_PANE: 'other', POLY_TOKEN: token } });
    await capture(hub, prompt('c', 'x'), { env: { POLY_PANE: 'other', POLY_TOKEN: 'guess' } });
    expect((await captured(hub, 3)).map(({ paneId }) => paneId)).toEqual(['mine', 'mine', undefined]);
  });

  it('knows the pane of an event from its very first moment', async () => {
    await using hub = await TestHub.start();
    const hook = `printf '%s' '${prompt('s', 'x')}' | sh '${script}' claude; exec cat`;
    const ids = ['a', 'b', 'c', 'd'];
    await Promise.all(ids.map((id) => hub.client.call('pane:new', { id, argv: ['sh', '-c', hook] })));
    expect((await captured(hub, 4)).map(({ paneId }) => paneId).sort()).toEqual(ids);
  });

  it('hides secrets in what it keeps', async () => {
    await using hub = await TestHub.start();
    const secret = `ghp_${'a1B2c3D4e5'.repeat(4)}`;
    await capture(hub, prompt('s', `use ${secret} please`));
    await captured(hub, 1);
    await hub.kill('SIGTERM');
    const [row] = rows(hub);
    expect(JSON.parse(row?.normalised ?? '').text).toBe('use [redacted github token] please');
    expect(readFileSync(join(hub.dir, 'hub.db')).includes(secret)).toBe(false);
  });

  it('puts what no hook wrote into the dead letters, and counts it', async () => {
    await using hub = await TestHub.start();
    writeFileSync(join(hub.dir, 'journal', 'new', 'stray'), 'not ours');
    await until(() => folder(hub, 'dead').length === 1);
    expect(await gauges(hub)).toMatchObject({ journalDead: 1, journalWaiting: 0 });
  });

  it('lets nothing that lies in the journal by mistake or malice hold up the rest', async () => {
    await using hub = await TestHub.start();
    await hub.kill('SIGTERM');
    const arrivals = join(hub.dir, 'journal', 'new');
    await capture(hub, prompt('s', 'first'));
    // As a hook that was taken for dead leaves it, when it ends at that very moment.
    const [name = ''] = folder(hub, 'new');
    linkSync(join(arrivals, name), join(arrivals, `${name}.cut`));
    execFileSync('mkfifo', [join(arrivals, 'pipe')]);
    mkdirSync(join(arrivals, 'folder'));
    mkdirSync(join(hub.dir, 'journal', 'dead', 'folder', 'of old'), { recursive: true });
    const links = { endless: '/dev/zero', broken: '/proc/self/mem', nowhere: '/none', ours: 'token' };
    for (const [link, target] of Object.entries(links)) symlinkSync(target, join(arrivals, link));
    await hub.start();
    await capture(hub, prompt('s', 'second'));
    await captured(hub, 2);
    await until(() => folder(hub, 'new').length === 0);
    expect([...folder(hub, 'dead')].sort()).toEqual(['folder', 'pipe', ...Object.keys(links)].sort());
    await hub.kill('SIGTERM');
    expect(rows(hub).map(({ normalised }) => JSON.parse(normalised).text)).toEqual(['first', 'second']);
  });

  it('makes the journal anew where somebody has removed it', async () => {
    await using hub = await TestHub.start();
    renameSync(join(hub.dir, 'journal'), join(hub.home, 'gone'));
    expect(await gauges(hub)).toMatchObject({ captured: 0 });
    await capture(hub, prompt('s', 'x'));
    await captured(hub, 1);
    expect(await gauges(hub)).toMatchObject({ captured: 1, journalWaiting: 0, journalDead: 0 });
  });

  it('says why nothing can be taken in, for as long as that is so', async () => {
    await using hub = await TestHub.start();
    const journal = join(hub.dir, 'journal');
    const problems = async (): Promise<string> =>
      (await hub.client.call('server:status', {})).problems.join('\n');
    // While the hub stands still: else it might make the journal anew in between.
    process.kill(hub.discovery.pid, 'SIGSTOP');
    renameSync(journal, join(hub.home, 'gone'));
    writeFileSync(journal, 'a file');
    process.kill(hub.discovery.pid, 'SIGCONT');
    await until(async () => (await problems()).includes(`${journal} is not a folder`));
    rmSync(journal);
    await until(async () => (await problems()) === '');
    expect(folder(hub, 'new')).toEqual([]);
  });

  it('tells of events for which the disk had no room', async () => {
    await using hub = await TestHub.start();
    await hub.kill('SIGTERM');
    const out = join(hub.home, 'out');
    mkdirSync(out);
    const small = join(hub.home, 'small');
    mkdirSync(small);
    // A disk of 64 KB of our own, seen by nobody else.
    const within = `mount -t tmpfs -o size=64k tmpfs ${small} && i=0 && export POLY_HOME=${small}/p && mkdir ${small}/p &&
      while [ $i -lt 20 ]; do head -c 8000 /dev/zero | tr '\\0' x | sh ${script} claude || echo failed; i=$((i+1)); done
      cp -a ${small}/p/journal ${out}/`;
    const { stdout } = await promisify(execFile)('unshare', ['-rm', 'sh', '-c', within]);
    expect(stdout).toBe('');
    rmSync(join(hub.dir, 'journal'), { recursive: true });
    execFileSync('cp', ['-a', join(out, 'journal'), hub.dir]);
    await hub.start();
    const all = await captured(hub, 20);
    const gaps = all.filter(({ kind }) => kind === 'gap').length;
    expect(gaps).toBeGreaterThan(0);
    expect(gaps).toBeLessThan(20);
    expect(await gauges(hub)).toMatchObject({ captureGaps: gaps, captured: 20 });
  });

  it('finds the journal of its hub from any folder, also where the home was given as one beside the caller', async () => {
    await using hub = await TestHub.start();
    await hub.client.call('pane:new', {
      id: 'beside',
      argv: ['sh', '-c', `read begin; echo '${prompt('s', 'x')}' | sh ${script} claude; exec cat`],
      cwd: hub.home,
      env: { POLY_HOME: 'beside' },
    });
    await hub.client.call('pane:write', { paneId: 'beside', data: 'begin', enter: true });
    expect((await captured(hub, 1)).map(({ paneId }) => paneId)).toEqual(['beside']);
    expect(existsSync(join(hub.home, 'beside'))).toBe(false);
  });

  it('needs no hub, and no home that is there already', async () => {
    await using hub = await TestHub.start();
    const home = join(hub.home, 'fresh');
    expect(await capture(hub, prompt('s', 'x'), { env: { POLY_HOME: home } })).toBe('0');
    expect(readdirSync(join(home, 'journal', 'new'))).toHaveLength(1);
    expect(execFileSync('stat', ['-c', '%a', join(home, 'journal', 'new')], { encoding: 'utf8' })).toBe(
      '700\n',
    );
    expect(await capture(hub, 'x', { env: { POLY_HOME: '/proc/none' } })).toBe('0');
    expect(existsSync('/proc/none')).toBe(false);
  });

  it.each(['nobody-has-this-name', 'x; touch here', ''])(
    'does nothing where nobody knows a home, for a user named "%s"',
    async (user) => {
      const cwd = mkdtempSync(join(tmpdir(), 'poly-homeless-'));
      try {
        mkdirSync(join(cwd, 'bin'));
        writeFileSync(join(cwd, 'bin', 'id'), `#!/bin/sh\necho '${user}'\n`, { mode: 0o700 });
        const env = { PATH: `${join(cwd, 'bin')}:${process.env.PATH}` };
        const before = existsSync('/.poly');
        const { stdout, stderr, status } = spawnSync('sh', [script, 'claude'], {
          env,
          cwd,
          input: prompt('s', 'x'),
        });
        expect([status, `${stdout}${stderr}`]).toEqual([0, '']);
        expect(readdirSync(cwd)).toEqual(['bin']);
        expect(existsSync('/.poly')).toBe(before);
      } finally {
        rmSync(cwd, { recursive: true });
      }
    },
  );
});
