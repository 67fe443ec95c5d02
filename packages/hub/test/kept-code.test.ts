import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdtempSync, readdirSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

const dist = join(import.meta.dirname, '..', 'dist');

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'poly-code-'));
  for (const file of ['poly.cjs', 'poly.bundle.cjs']) copyFileSync(join(dist, file), join(folder, file));
});
afterEach(() => rmSync(folder, { recursive: true }));

/** What a copy of the program prints, and nothing beside it. */
function version(): string {
  const { stdout, stderr } = spawnSync(process.execPath, [join(folder, 'poly.cjs'), '--version'], {
    encoding: 'utf8',
  });
  return stdout + stderr;
}

const kept = (): readonly string[] =>
  readdirSync(join(folder, 'code'), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name));

describe('the code of the command', () => {
  it('is kept by its first run', () => {
    expect(version()).toBe('0.1.0\n');
    expect(kept()).toHaveLength(1);
  });

  it('is made anew where what was kept is damaged, and where nothing can be kept', () => {
    version();
    for (const file of kept()) truncateSync(file, 100);
    expect(version()).toBe('0.1.0\n');
    rmSync(join(folder, 'code'), { recursive: true });
    writeFileSync(join(folder, 'code'), 'in the way');
    expect(version()).toBe('0.1.0\n');
  });

  it('is that of the bundle as it is now', () => {
    version();
    writeFileSync(join(folder, 'poly.bundle.cjs'), 'console.log("another")');
    expect(version()).toBe('another\n');
  });
});
