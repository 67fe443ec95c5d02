import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Lets Node keep the code of a bundle from its first run on, which is here where words for it are given. */
export function keepCode(file: string, ...words: readonly string[]): void {
  renameSync(file, `${file.slice(0, -'.cjs'.length)}.bundle.cjs`);
  copyFileSync(join(import.meta.dirname, 'start-bundle.cjs'), file);
  if (words.length === 0) return;
  const home = mkdtempSync(join(tmpdir(), 'poly-build-'));
  spawnSync(process.execPath, [file, ...words], { env: { PATH: process.env.PATH, HOME: home } });
  rmSync(home, { recursive: true });
}
