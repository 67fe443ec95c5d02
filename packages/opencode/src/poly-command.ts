import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { PolyError } from '@polyphony/protocol';
import type { Env } from './find-hub.ts';

const patienceMs = 30_000;

/** Runs the command `poly` and answers what it printed. */
export async function runPoly(args: readonly string[], env: Env): Promise<string> {
  const poly = findPoly(env);
  try {
    const { stdout } = await promisify(execFile)(poly, args, { env: { ...env }, timeout: patienceMs });
    return stdout;
  } catch (cause) {
    const { code, stderr, message } = cause as NodeJS.ErrnoException & { readonly stderr?: string };
    if (code === 'ENOENT')
      throw new PolyError('unavailable', `there is no command "${poly}", which starts the hub.`, {
        hint: 'Install polyphony (npm install -g polyphony), or name its command in POLY_BIN.',
        cause,
      });
    const said = stderr?.trim() || message;
    throw new PolyError('unavailable', `"${poly} ${args.join(' ')}" failed: ${said}`, { cause });
  }
}

/** The one that is named, the one that was installed beside this plugin, or the one on PATH. */
function findPoly(env: Env): string {
  if (env.POLY_BIN) return env.POLY_BIN;
  try {
    const types = createRequire(import.meta.url).resolve('polyphony/types');
    const beside = join(dirname(types), '..', '..', 'bin', 'poly');
    if (existsSync(beside)) return beside;
  } catch {
    // It is not installed beside us.
  }
  return 'poly';
}
