import { execFile, execFileSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PolyError } from '@polyphony/protocol';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { register, type TestAgent } from './mail-ground.ts';
import { byStdio, program, use } from './mcp-clients.ts';
import { TestHub, until } from './test-hub.ts';

let hub: TestHub;
let [ada, bob]: TestAgent[] = [];
const folder = realpathSync(mkdtempSync(join(tmpdir(), 'poly-files-')));
beforeAll(async () => {
  hub = await TestHub.start();
  ada = await register(hub, 'ada');
  bob = await register(hub, 'bob');
});
afterAll(async () => {
  await hub[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true, force: true });
});

const codeOf = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => 'done',
    (error: unknown) => (error instanceof PolyError ? error.code : String(error)),
  );

describe('a claim on files', () => {
  it('is told to both sides where it meets another, and is held by the one who made it', async () => {
    const [one, two] = [ada as TestAgent, bob as TestAgent];
    const root = join(folder, 'told');
    const first = await one.call('file:claim', { root, paths: ['src/**/*.ts'], reason: 'types' });
    expect(first).toMatchObject({ mode: 'exclusive', holder: 'agent:ada', conflicts: [], mine: true });
    const second = await two.call('file:claim', { root: join(root, 'src'), paths: ['a.ts', 'b.md'] });
    expect(second.conflicts).toMatchObject([
      {
        claim_id: first.claim_id,
        holder: 'agent:ada',
        pattern: 'src/**/*.ts',
        meets: 'a.ts',
        reason: 'types',
      },
    ]);
    const { payload } = await hub.event(
      'file:conflict',
      (event) => event.payload.claimId === second.claim_id,
    );
    expect(payload).toMatchObject({
      holder: 'agent:bob',
      other: { claimId: first.claim_id, holder: 'agent:ada' },
    });
    // The one who was first hears of it by mail, once of each who comes.
    const again = await two.call('file:claim', { root, paths: ['src/a.ts'] });
    expect(again.conflicts).toHaveLength(1);
    await two.call('file:release', { claim_id: again.claim_id });
    const [notice, ...more] = await until(async () => {
      const read = await one.read();
      return read.length > 0 && read;
    });
    expect(notice).toMatchObject({ kind: 'notice', from: 'hub' });
    expect(notice?.body).toContain(`agent:bob has claimed a.ts below ${join(root, 'src')}`);
    expect(notice?.body).toContain(first.claim_id);
    expect(more).toEqual([]);
    // Shared claims meet only those of one who wants to be alone; nobody meets himself.
    expect((await one.call('file:claim', { root, paths: ['src/a.ts'] })).conflicts).toMatchObject([
      { holder: 'agent:bob' },
    ]);
    expect((await two.call('file:claim', { root, paths: ['docs'], mode: 'shared' })).conflicts).toEqual([]);
    expect((await one.call('file:claim', { root, paths: ['docs/*.md'], mode: 'shared' })).conflicts).toEqual(
      [],
    );
    expect((await two.call('file:claim', { root, paths: ['docs/x'] })).conflicts).toEqual([]);

    expect(await codeOf(two.call('file:release', { claim_id: first.claim_id }))).toBe('not_owner');
    expect(await codeOf(two.call('file:release', { claim_id: 'clm_none' }))).toBe('not_found');
    expect(await codeOf(two.call('file:release', {}))).toBe('invalid_arguments');
    // The older claim goes before, also for files that both named.
    const blocked = async (who: TestAgent, ...paths: string[]) =>
      (await who.call('file:check', { root, paths })).blocked.map(({ meets, holder }) => [meets, holder]);
    expect(await blocked(two, 'src/a.ts', 'src/c.js', 'src/b.md')).toEqual([['src/a.ts', 'agent:ada']]);
    expect(await blocked(one, 'src/a.ts', 'src/b.md')).toEqual([['src/b.md', 'agent:bob']]);
    expect((await two.call('file:release', { all: true })).released).toHaveLength(3);
    expect(await hub.client.call('file:release', { claim_id: first.claim_id })).toMatchObject({
      released: [first.claim_id],
    });
    expect((await two.call('file:list', { root })).claims.map(({ holder, mine }) => [holder, mine])).toEqual([
      ['agent:ada', false],
      ['agent:ada', false],
    ]);
    expect((await two.call('file:list', { root: folder.concat('/elsewhere') })).claims).toEqual([]);
    expect(await codeOf(one.call('file:claim', { root, paths: ['../x'] }))).toBe('invalid_arguments');
    expect(await codeOf(one.call('file:claim', { paths: ['x'] }))).toBe('invalid_arguments');
  });

  it('may be what nobody would write: it is said to meet, and holds up nobody', async () => {
    const [one, two] = [ada as TestAgent, bob as TestAgent];
    const root = join(folder, 'nasty');
    const nasty = (end: string) => Array.from({ length: 50 }, (_, i) => `${'*a'.repeat(400)}${i}${end}`);
    for (let i = 0; i < 5; i++) await one.call('file:claim', { root, paths: nasty('x') });
    const { conflicts } = await two.call('file:claim', { root, paths: nasty('y') });
    expect(conflicts.at(-1)).toMatchObject({ holder: 'agent:ada' });
    const paths = Array.from({ length: 10 }, (_, i) => `${'a'.repeat(200)}/${i}`);
    expect((await hub.client.call('file:check', { root, paths })).blocked).not.toEqual([]);
    const whole = join(folder, 'whole');
    await one.call('file:claim', { root: whole, paths: ['.'] });
    const all = { root: whole, paths: Array.from({ length: 1500 }, (_, i) => `f${i}`) };
    expect((await two.call('file:check', all)).blocked).toHaveLength(1000);
    const many = { root, paths: Array.from({ length: 20 }, (_, i) => `${'{a,b}'.repeat(4)}${i}`) };
    await expect(two.call('file:claim', many)).rejects.toThrow('that are 320 patterns, and 200 are taken');
    for (const who of [one, two]) await who.call('file:release', { all: true });
  });

  it('ends with its time, and with who holds it', async () => {
    const short = await (ada as TestAgent).call('file:claim', { root: folder, paths: ['short'], ttl_s: 1 });
    const ended = await hub.event('file:expired', ({ payload }) => payload.claimId === short.claim_id);
    expect(ended.payload).toMatchObject({ holder: 'agent:ada', reason: 'lease' });
    const pane = hub.as(await hub.paneToken('claimer'));
    const { claim_id, root } = await pane.call('file:claim', { paths: ['held'] });
    expect(root).toBe(
      realpathSync((await hub.client.call('pane:list', {})).find(({ id }) => id === 'claimer')?.cwd ?? ''),
    );
    await hub.client.call('pane:close', { paneId: 'claimer' });
    expect(
      (await hub.event('file:expired', ({ payload }) => payload.claimId === claim_id)).payload.reason,
    ).toBe('gone');
  });

  it('is made by tools, for the folder the agent works in', async () => {
    const client = await byStdio(hub, { args: ['--toolsets', 'mail,tasks'], cwd: folder });
    await use(client, 'register_agent', { name: 'tooled', project: 'demo' });
    const claim = JSON.parse(await use(client, 'file_claim', { paths: ['*.txt'] })) as { claim_id: string };
    expect(claim).toMatchObject({ root: folder, holder: 'agent:tooled' });
    expect(await use(client, 'file_list')).toContain(claim.claim_id);
    expect(JSON.parse(await use(client, 'file_release', { claim_id: claim.claim_id }))).toMatchObject({
      ok: true,
    });
    await client.close();
  });
});

describe('poly file', () => {
  const repository = join(folder, 'repository');
  const run = (file: string, args: readonly string[], env: Record<string, string> = {}) =>
    new Promise<{ code: number; out: string; err: string }>((done) =>
      execFile(
        file,
        args,
        { cwd: repository, env: { ...hub.env, ...env } as NodeJS.ProcessEnv },
        (error, out, err) => done({ code: error ? Number(error.code) : 0, out, err }),
      ),
    );
  const poly = (...args: readonly string[]) => run(process.execPath, [program, ...args]);
  const git = (...args: readonly string[]) =>
    execFileSync('git', args, { cwd: repository, encoding: 'utf8', env: { ...process.env, HOME: folder } });
  const commit = (env: Record<string, string> = {}) =>
    run('git', ['-c', 'user.name=x', '-c', 'user.email=x@y', 'commit', '-qm', 'x'], env);

  it('guards a commit against the claims of others, keeps the hook that was there, and can be gone round', async () => {
    mkdirSync(repository);
    git('init', '-q');
    const hook = join(repository, '.git', 'hooks', 'pre-commit');
    const own = '#!/bin/sh\necho own >>"$(git rev-parse --show-toplevel)/ran"\n';
    mkdirSync(join(repository, '.git', 'hooks'), { recursive: true });
    writeFileSync(hook, own);
    chmodSync(hook, 0o755);
    expect((await poly('file', 'guard', 'install')).out).toContain('after your own hook');
    const again = await poly('file', 'guard', 'install', '--json');
    expect(JSON.parse(again.out)).toEqual({
      file: expect.stringMatching(/hooks\/pre-commit$/),
      ownHook: true,
    });

    writeFileSync(join(repository, 'free.txt'), 'a');
    writeFileSync(join(repository, 'taken.txt'), 'some lines\nof text\n');
    git('add', '.');
    expect((await commit()).code).toBe(0);
    expect(readFileSync(join(repository, 'ran'), 'utf8')).toBe('own\n');
    const claim = await (ada as TestAgent).call('file:claim', {
      root: repository,
      paths: ['taken.*'],
      reason: 'rewriting',
    });
    expect((await poly('file', 'list')).out).toMatch(
      /^clm_\w+ +exclusive +agent:ada .* taken\.\* +rewriting\n$/,
    );

    // A file that is moved away is changed too.
    git('mv', 'taken.txt', 'moved.txt');
    const refused = await commit();
    expect([refused.code, refused.err]).toEqual([
      1,
      expect.stringContaining('taken.txt is claimed by agent:ada (taken.*, rewriting)'),
    ]);
    expect((await commit({ POLY_TOKEN: (ada as TestAgent).secret })).code).toBe(0);
    git('mv', 'moved.txt', 'taken.txt');
    expect((await commit({ POLY_FILE_GUARD: 'warn' })).err).toContain('is claimed by agent:ada');
    git('mv', 'taken.txt', 'other.txt');
    expect(await commit({ POLY_FILE_GUARD: 'off' })).toMatchObject({ code: 0, err: '' });
    // Where no hub answers nobody is held up.
    git('mv', 'other.txt', 'taken.txt');
    const alone = await commit({ POLY_HOME: join(folder, 'nowhere') });
    expect([alone.code, alone.err]).toEqual([0, expect.stringContaining('lets this commit pass')]);

    expect((await poly('file', 'guard', 'uninstall')).code).toBe(0);
    expect(readFileSync(hook, 'utf8')).toBe(own);
    expect(existsSync(`${hook}.before-poly`)).toBe(false);
    expect((await poly('file', 'guard', 'uninstall')).err).toContain('There is no guard');
    expect(JSON.parse((await poly('file', 'guard', 'uninstall', '--json')).out)).toHaveProperty(
      'removed',
      false,
    );
    await (ada as TestAgent).call('file:release', { claim_id: claim.claim_id });
  }, 120_000);

  it('keeps a hook that finds its parts by the name git calls it by, as those of husky do', async () => {
    const hooks = join(repository, 'tools', '_');
    mkdirSync(hooks, { recursive: true });
    writeFileSync(join(hooks, 'parts'), 'sh -e "$(dirname "$(dirname "$0")")/$(basename "$0")" "$@"\n');
    git('config', 'core.hooksPath', 'tools/_');
    for (const shell of ['/usr/bin/env sh', '/bin/sh -e', '/bin/bash']) {
      const hook = join(hooks, 'pre-commit');
      writeFileSync(hook, `#!${shell}\n. "$(dirname "$0")/parts"\n`);
      chmodSync(hook, 0o755);
      writeFileSync(join(repository, 'tools', 'pre-commit'), 'echo no >&2; exit 7\n');
      expect((await poly('file', 'guard', 'install')).code).toBe(0);
      git('add', '.');
      expect(await commit()).toMatchObject({ code: 1, err: 'no\n' });
      writeFileSync(join(repository, 'tools', 'pre-commit'), 'echo yes >&2\n');
      expect(await commit({ POLY_FILE_GUARD: 'off' })).toMatchObject({ code: 0, err: 'yes\n' });
      expect((await poly('file', 'guard', 'uninstall')).code).toBe(0);
    }
    git('config', '--unset', 'core.hooksPath');
  }, 120_000);

  it('claims, lists and releases', async () => {
    const claimed = await poly('--json', 'file', 'claim', 'src/**', '--ttl', '5m', '--shared');
    const { claim_id, ...claim } = JSON.parse(claimed.out) as { claim_id: string };
    expect(claim).toMatchObject({ root: repository, mode: 'shared', conflicts: [] });
    expect((await poly('file', 'release', claim_id.slice(0, 8))).out).toBe(`Released ${claim_id}.\n`);
    expect((await poly('file', 'list')).err).toBe('Nobody has claimed files here.\n');
    expect((await poly('file', 'release', claim_id)).code).toBe(3);
  }, 60_000);
});
