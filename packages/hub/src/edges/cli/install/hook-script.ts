import { readFileSync, rmdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { placesOf } from '../../../platform/places.ts';
import { privateDirectory, writePrivate } from '../../../platform/private-files.ts';
import { captureScript } from '../build.ts';
import type { Env } from '../env.ts';
import { fileTrouble } from '../file-trouble.ts';
import { unifiedDiff } from './unified-diff.ts';

/** The program that hooks start, where no update and no move of poly takes it away from them. */
export class HookScript {
  readonly path: string;
  readonly #folder: string;

  constructor(env: Env) {
    this.#folder = placesOf(env).hooks;
    this.path = join(this.#folder, 'capture.sh');
  }

  get state(): 'current' | 'stale' | 'missing' {
    const text = this.#text();
    if (text === undefined) return 'missing';
    const startable = (statSync(this.path).mode & 0o777) === 0o700;
    return startable && text === shipped() ? 'current' : 'stale';
  }

  get diff(): string {
    return this.#text() === shipped() ? '' : unifiedDiff(this.path, this.#text(), shipped());
  }

  renew(): void {
    privateDirectory(join(this.#folder, '..'));
    privateDirectory(this.#folder);
    try {
      writePrivate(this.path, shipped(), 0o700);
    } catch (cause) {
      throw fileTrouble(this.path, 'written', cause);
    }
  }

  remove(): void {
    rmSync(this.path, { force: true });
    try {
      rmdirSync(this.#folder);
    } catch {
      // It was never made, or somebody keeps something else there.
    }
  }

  #text(): string | undefined {
    try {
      return readFileSync(this.path, 'utf8');
    } catch (cause) {
      if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
      throw fileTrouble(this.path, 'read', cause);
    }
  }
}

const shipped = (): string => readFileSync(captureScript, 'utf8');
