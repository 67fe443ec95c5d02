import { readFileSync, rmdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { placesOf } from '../../../platform/places.ts';
import { privateDirectory, writePrivate } from '../../../platform/private-files.ts';
import { hooksFolder } from '../build.ts';
import type { Env } from '../env.ts';
import { fileTrouble } from '../file-trouble.ts';
import { type HookScriptName, hookScriptNames } from './hook-shape.ts';
import { unifiedDiff } from './unified-diff.ts';

/** The programs that hooks start, where no update and no move of poly takes them away from them. */
export class HookScripts {
  readonly #folder: string;

  constructor(env: Env) {
    this.#folder = placesOf(env).hooks;
  }

  pathOf(name: HookScriptName): string {
    return join(this.#folder, name);
  }

  get state(): 'current' | 'stale' | 'missing' {
    const states = hookScriptNames.map((name) => this.#stateOf(name));
    return (['missing', 'stale'] as const).find((state) => states.includes(state)) ?? 'current';
  }

  get diff(): string {
    return hookScriptNames
      .filter((name) => this.#text(name) !== shipped(name))
      .map((name) => unifiedDiff(this.pathOf(name), this.#text(name), shipped(name)))
      .join('');
  }

  renew(): void {
    privateDirectory(join(this.#folder, '..'));
    privateDirectory(this.#folder);
    for (const name of hookScriptNames) {
      try {
        writePrivate(this.pathOf(name), shipped(name), 0o700);
      } catch (cause) {
        throw fileTrouble(this.pathOf(name), 'written', cause);
      }
    }
  }

  remove(): void {
    for (const name of hookScriptNames) rmSync(this.pathOf(name), { force: true });
    try {
      rmdirSync(this.#folder);
    } catch {
      // It was never made, or somebody keeps something else there.
    }
  }

  #stateOf(name: HookScriptName): HookScripts['state'] {
    const text = this.#text(name);
    if (text === undefined) return 'missing';
    const startable = (statSync(this.pathOf(name)).mode & 0o777) === 0o700;
    return startable && text === shipped(name) ? 'current' : 'stale';
  }

  #text(name: HookScriptName): string | undefined {
    try {
      return readFileSync(this.pathOf(name), 'utf8');
    } catch (cause) {
      if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
      throw fileTrouble(this.pathOf(name), 'read', cause);
    }
  }
}

const shipped = (name: HookScriptName): string => readFileSync(join(hooksFolder, name), 'utf8');
