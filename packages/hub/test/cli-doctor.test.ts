import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, openSync, readdirSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import type { ServerStatus } from '@polyphony/protocol';
import Database from 'better-sqlite3';
import { describe, expect, it } from 'vitest';
import { CliGround } from './cli-ground.ts';

interface Finding {
  readonly name: string;
  readonly state: string;
  readonly says: string;
  readonly fix?: string;
}

const homeOf = (at: CliGround): string => join(at.home, '.poly');

async function look(at: CliGround, name: string): Promise<Finding | undefined> {
  const { stdout } = await at.run(['doctor', '--json']);
  return (JSON.parse(stdout) as readonly Finding[]).find((finding) => finding.name === name);
}

/** Damages the pages of a record that no hub has open. */
function damage(file: string): void {
  const fd = openSync(file, 'r+');
  for (let at = 8192; at < 200_000; at += 4096) writeSync(fd, Buffer.alloc(64, 0xff), 0, 64, at);
}

describe('a record that was damaged', () => {
  it('is told with what was lost and where it is, until that is taken away', async () => {
    await using at = new CliGround();
    await at.ok('up');
    await at.ok('backup');
    await at.ok('server', 'stop');
    damage(join(homeOf(at), 'hub.db'));
    const { code, stderr } = await at.run(['up']);
    const told =
      /^poly: the record was restored from \S+\.backup-\S+ .* What was written from \S+Z to \S+Z is lost; what was there is in \S+\.corrupt-\S+\n/;
    expect([code, stderr]).toEqual([0, expect.stringMatching(told)]);
    const { problems } = await at.json<ServerStatus>('server', 'status');
    expect(problems).toEqual([expect.stringContaining('the record was restored')]);
    expect(await look(at, 'record')).toMatchObject({
      state: 'bad',
      fix: expect.stringContaining('.corrupt-'),
    });
    await at.ok('server', 'restart');
    expect((await at.json<ServerStatus>('server', 'status')).problems).toEqual([]);
    expect(await look(at, 'record')).toMatchObject({
      state: 'warn',
      says: expect.stringContaining('.corrupt-'),
    });
  }, 60_000);
});

describe('a hub that could not start', () => {
  it('says why once, without a trace of its code, and doctor says it again', async () => {
    await using at = new CliGround();
    await at.ok('up');
    await at.ok('server', 'stop');
    const record = new Database(join(homeOf(at), 'hub.db'));
    record.pragma('user_version = 999');
    record.close();
    const said = 'has schema 999, and this version knows schemas up to';
    const { code, stderr } = await at.run(['up']);
    expect([code, stderr]).toEqual([4, expect.stringContaining(said)]);
    expect(await look(at, 'hub')).toMatchObject({
      state: 'bad',
      says: expect.stringContaining(said),
      fix: expect.stringContaining('Use the newer version'),
    });
    expect(await at.ok('server', 'logs')).not.toMatch(/^ +at /m);
  }, 60_000);

  it('says of a lock that is none what to do', async () => {
    await using at = new CliGround();
    mkdirSync(homeOf(at), { mode: 0o700 });
    writeFileSync(join(homeOf(at), 'hub.lock'), 'this is no lock');
    const { code, stderr } = await at.run(['up']);
    expect([code, stderr]).toEqual([
      4,
      expect.stringMatching(
        /^poly: \S+hub\.lock is not the lock that a hub has made\. Delete it, if no hub runs/,
      ),
    ]);
  }, 60_000);
});

it('names every file of the hub that others can read', async () => {
  await using at = new CliGround();
  await at.ok('up');
  expect(await look(at, 'files')).toMatchObject({ state: 'ok' });
  const log = join(homeOf(at), 'logs', 'audit.log');
  chmodSync(log, 0o644);
  expect(await look(at, 'files')).toMatchObject({ state: 'bad', fix: `chmod -R go-rwx ${log}` });
}, 60_000);

it('tells of an extension that is broken, where the hub is asked how it is', async () => {
  await using at = new CliGround();
  await at.ok('up');
  const folder = join(homeOf(at), 'extensions', 'hasty');
  mkdirSync(folder);
  writeFileSync(join(folder, 'package.json'), '{"name":"hasty","main":"index.mjs"}');
  writeFileSync(
    join(folder, 'index.mjs'),
    'export const name = "hasty"; export default () => { throw new Error("no") };',
  );
  const { stderr } = await at.run(['server', 'restart']);
  expect(stderr).toBe('poly: the extension hasty is broken: no\n');
  expect((await at.json<ServerStatus>('server', 'status')).problems).toEqual([
    'the extension hasty is broken: no',
  ]);
  expect(await look(at, 'extensions')).toMatchObject({
    state: 'warn',
    fix: expect.stringContaining('poly ext'),
  });
  await at.ok('ext', 'remove', 'hasty');
  expect(await look(at, 'extensions')).toMatchObject({ state: 'ok' });
  expect(readdirSync(join(homeOf(at), 'extensions'))).toEqual([]);
}, 60_000);

it('says where the hub does not find a program that this shell finds', async () => {
  await using at = new CliGround();
  await at.run(['up'], { env: { PATH: '/nowhere' } });
  expect(await look(at, 'tmux')).toMatchObject({
    state: 'warn',
    says: expect.stringMatching(/^tmux \S+, but not on the PATH of the hub \(\/nowhere\)$/),
    fix: expect.stringContaining('poly server restart'),
  });
  await at.ok('server', 'restart');
  expect(await look(at, 'tmux')).toMatchObject({ state: 'ok' });
}, 60_000);

// prlimit is of Linux, where CI runs it.
describe.runIf(process.platform === 'linux')('how much a hub has to carry', () => {
  it('is told, and how to mend it when no more panes can be started', async () => {
    await using at = new CliGround();
    await at.ok('up');
    expect(await at.ok('doctor')).toMatch(
      /●\s+load\s+\d+ MB, \d+ % busy, \d+ of \d+ files open, .*\d+ zombies\n/,
    );
    const { pid, gauges } = await at.json<ServerStatus>('server', 'status');
    execFileSync('prlimit', [`--pid=${pid}`, `--nofile=${(gauges.openFiles ?? 0) + 4}`]);
    expect(await look(at, 'load')).toMatchObject({
      state: 'warn',
      fix: expect.stringContaining('raise the limit'),
    });
  });
});
