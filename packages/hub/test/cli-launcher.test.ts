import { execFile } from 'node:child_process';
import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

const launcher = join(import.meta.dirname, '..', 'bin', 'poly');
let root: string;
beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), 'poly launcher-')));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

/** A clone as `npm ci` and the build leave it; its program tells which Node runs it, and with which words. */
function clone({ pinned }: { readonly pinned: boolean }): string {
  const hub = join(root, 'packages', 'hub');
  write(join(root, 'packages', 'protocol', 'package.json'), '{}');
  write(
    join(hub, 'dist', 'poly.cjs'),
    'console.log(JSON.stringify([process.env.STARTED_BY || "plain", ...process.argv.slice(2)]))',
  );
  mkdirSync(join(hub, 'bin'));
  copyFileSync(launcher, join(hub, 'bin', 'poly'));
  mkdirSync(join(root, 'node_modules', '.bin'), { recursive: true });
  symlinkSync('../packages/hub', join(root, 'node_modules', 'polyphony'));
  symlinkSync('../polyphony/bin/poly', join(root, 'node_modules', '.bin', 'poly'));
  if (pinned) nodeCalled('pinned', join(root, 'node_modules', '.bin', 'node'));
  return join(root, 'node_modules', '.bin', 'poly');
}

function write(file: string, text: string): void {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
}

function nodeCalled(name: string, file: string): string {
  write(file, `#!/bin/sh\nSTARTED_BY=${name} exec '${process.execPath}' "$@"\n`);
  chmodSync(file, 0o755);
  return file;
}

function run(
  file: string,
  args: readonly string[],
  env: Record<string, string>,
): Promise<{ code: number; stdout: string; stderr: string }> {
  return new Promise((resolve) => {
    execFile(file, args, { env, cwd: '/' }, (error, stdout, stderr) =>
      resolve({ code: error ? Number(error.code) : 0, stdout, stderr }),
    );
  });
}

const basics = '/usr/bin:/bin';

describe('the launcher', () => {
  it("starts the clone's own Node through every link, from any folder, with every word as it is", async () => {
    const poly = clone({ pinned: true });
    const outside = join(root, 'elsewhere');
    symlinkSync(poly, outside);
    const { stdout } = await run(outside, ['a b', '', '$HOME', '*'], { PATH: basics });
    expect(JSON.parse(stdout)).toEqual(['pinned', 'a b', '', '$HOME', '*']);
  });

  it('prefers the Node that POLY_NODE names', async () => {
    const poly = clone({ pinned: true });
    const mine = nodeCalled('mine', join(root, 'mine', 'node'));
    expect(JSON.parse((await run(poly, [], { PATH: basics, POLY_NODE: mine })).stdout)).toEqual(['mine']);
    const { code, stderr } = await run(poly, [], { PATH: basics, POLY_NODE: '/no/such/node' });
    expect([code, stderr]).toEqual([1, 'poly: POLY_NODE names no program: /no/such/node\n']);
  });

  it('takes the Node on PATH when the clone brings none', async () => {
    const poly = clone({ pinned: false });
    nodeCalled('path', join(root, 'path', 'node'));
    const { stdout } = await run(poly, [], { PATH: `${join(root, 'path')}:${basics}` });
    expect(JSON.parse(stdout)).toEqual(['path']);
  });

  it('says what is missing when there is no Node at all', async () => {
    const poly = clone({ pinned: false });
    const tools = join(root, 'tools');
    mkdirSync(tools);
    for (const tool of ['sh', 'readlink']) symlinkSync(`/usr/bin/${tool}`, join(tools, tool));
    const { code, stderr } = await run(poly, [], { PATH: tools });
    expect([code, stderr]).toEqual([
      1,
      'poly: there is no Node here. Install Node 22.14 or newer, or name one in POLY_NODE.\n',
    ]);
  });

  it('says how to build what is not built', async () => {
    const poly = clone({ pinned: true });
    rmSync(join(root, 'packages', 'hub', 'dist'), { recursive: true });
    const { code, stderr } = await run(poly, [], { PATH: basics });
    expect(code).toBe(1);
    expect(stderr).toContain('npm run build');
  });
});
