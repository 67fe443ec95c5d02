import { execFile } from 'node:child_process';
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { captured, folder, gauges, rows, script } from './capture-ground.ts';
import { TestHub, until } from './test-hub.ts';

const run = promisify(execFile);
const calls = 1_000;

/** One agent whose hooks run one after the other: so many prompts, numbered, of one session. */
const hooks = (session: string, count: number): string =>
  `i=0; while [ $i -lt ${count} ]; do
    printf '{"session_id":"${session}","hook_event_name":"UserPromptSubmit","cwd":"%s","prompt":"%s"}' "$PWD" $i |
      sh '${script}' claude || echo "failed with $?"
    i=$((i+1))
  done`;

/** Runs them in a shell of their own; answers what they printed. */
async function say(
  hub: TestHub,
  session: string,
  count: number,
  { env = {}, cwd = '/' }: { env?: Record<string, string>; cwd?: string } = {},
): Promise<string> {
  const { stdout, stderr } = await run('sh', ['-c', hooks(session, count)], {
    cwd,
    env: { ...hub.env, ...env },
  });
  return `${stdout}${stderr}`;
}

const sessions = ['a', 'b', 'c', 'd'];

/** 1,000 calls of four agents at the same time. */
const sayAll = (hub: TestHub, round: string): Promise<readonly string[]> =>
  Promise.all(sessions.map((session) => say(hub, `${round} ${session}`, calls / sessions.length)));

interface Prompt {
  readonly session: string;
  readonly text: string;
  readonly cwd: string;
}

/** The prompts in the record, by session, as they stand there. */
function prompts(hub: TestHub): ReadonlyMap<string, readonly (Prompt & { readonly pane: string | null })[]> {
  const all = rows(hub)
    .filter(({ kind }) => kind === 'prompt')
    .map(({ normalised, pane }) => ({ ...(JSON.parse(normalised) as Prompt), pane }));
  return Map.groupBy(all, ({ session }) => session);
}

const numbers = (count: number): readonly string[] => Array.from({ length: count }, (_, index) => `${index}`);
const textsOf = (all: readonly Prompt[] | undefined): readonly string[] =>
  (all ?? []).map(({ text }) => text);

describe('capture, a thousand times', () => {
  it('says nothing and succeeds while the hub runs, hangs or is gone, and each event is there once, in order', async () => {
    await using hub = await TestHub.start();
    const silent = sessions.map(() => '');
    expect(await sayAll(hub, 'up')).toEqual(silent);
    await captured(hub, calls);
    process.kill(hub.discovery.pid, 'SIGSTOP');
    expect(await sayAll(hub, 'hung')).toEqual(silent);
    process.kill(hub.discovery.pid, 'SIGCONT');
    await captured(hub, 2 * calls);
    await hub.kill('SIGTERM');
    expect(await sayAll(hub, 'stopped')).toEqual(silent);
    await hub.start();
    const all = await captured(hub, 3 * calls);
    expect(new Set(all.map(({ captureId }) => captureId)).size).toBe(3 * calls);
    await until(() => folder(hub, 'new').length === 0 && folder(hub, 'tmp').length === 0);
    expect(await gauges(hub)).toMatchObject({ captureGaps: 0, journalDead: 0 });
    await hub.kill('SIGTERM');
    const kept = prompts(hub);
    expect(kept.size).toBe(12);
    for (const texts of kept.values()) expect(textsOf(texts)).toEqual(numbers(calls / 4));
  }, 120_000);

  it('succeeds on a full disk too, and counts what found no room', async () => {
    await using hub = await TestHub.start();
    await hub.kill('SIGTERM');
    const [out, small] = [join(hub.home, 'out'), join(hub.home, 'small')];
    for (const path of [out, small]) mkdirSync(path);
    // A disk of our own, seen by nobody else, that fills up on the way.
    const within = `mount -t tmpfs -o size=1m tmpfs ${small} && mkdir ${small}/p && export POLY_HOME=${small}/p &&
      { ${hooks('full', calls)}; }
      cp -a ${small}/p/journal ${out}/`;
    const { stdout, stderr } = await run('unshare', ['-rm', 'sh', '-c', within], { env: hub.env });
    expect(`${stdout}${stderr}`).toBe('');
    rmSync(join(hub.dir, 'journal'), { recursive: true });
    await run('cp', ['-a', join(out, 'journal'), hub.dir]);
    await hub.start();
    const all = await captured(hub, calls);
    const gaps = all.filter(({ kind }) => kind === 'gap').length;
    expect([gaps > 0, gaps < calls]).toEqual([true, true]);
    expect(await gauges(hub)).toMatchObject({ captureGaps: gaps, captured: calls });
    await hub.kill('SIGTERM');
    // A full disk loses from some moment on; before it nothing is lost.
    expect(textsOf(prompts(hub).get('full'))).toEqual(numbers(calls - gaps));
  }, 120_000);

  it('takes each event once, however often the hub is killed while it takes them in', async () => {
    await using hub = await TestHub.start();
    await hub.kill('SIGTERM');
    expect(await Promise.all(sessions.map((session) => say(hub, session, calls / 4)))).toEqual(
      sessions.map(() => ''),
    );
    const kills = 12;
    for (let round = 1; round <= kills; round++) {
      const start = hub.start().catch(() => undefined);
      // Each time a little later; what is in the record by then still lies in the journal, in part.
      const left = calls - Math.floor((calls * (round - 1)) / kills);
      await until(() => folder(hub, 'new').length < left || folder(hub, 'new').length === 0);
      await hub.kill('SIGKILL');
      await start;
    }
    await hub.start();
    await until(() => folder(hub, 'new').length === 0);
    await hub.kill('SIGTERM');
    const kept = prompts(hub);
    for (const session of sessions) expect(textsOf(kept.get(session))).toEqual(numbers(calls / 4));
  }, 120_000);

  it('gives the events of two agents in two folders each to its own pane', async () => {
    await using hub = await TestHub.start();
    const agents = await Promise.all(
      ['left', 'right'].map(async (name) => {
        const cwd = join(hub.home, name);
        mkdirSync(cwd);
        return { name, cwd, env: { POLY_PANE: name, POLY_TOKEN: await hub.paneToken(name) } };
      }),
    );
    expect(await Promise.all(agents.map(({ name, ...around }) => say(hub, name, calls / 2, around)))).toEqual(
      ['', ''],
    );
    await captured(hub, calls);
    await hub.kill('SIGTERM');
    const kept = prompts(hub);
    expect([...kept.keys()].sort()).toEqual(['left', 'right']);
    for (const { name, cwd } of agents) {
      expect(textsOf(kept.get(name))).toEqual(numbers(calls / 2));
      expect(new Set(kept.get(name)?.map((one) => `${one.pane} in ${one.cwd}`))).toEqual(
        new Set([`${name} in ${cwd}`]),
      );
    }
  }, 120_000);
});
