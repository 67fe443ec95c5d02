import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { PolyError } from '@polyphony/protocol';
import type { Env } from './find-hub.ts';

const startMs = 30_000;

/** Makes sure that a hub runs; of many that are started at once one wins. */
export async function startHub(env: Env): Promise<void> {
  const poly = findPoly(env);
  try {
    await promisify(execFile)(poly, ['server', 'start'], { env: { ...env }, timeout: startMs });
  } catch (cause) {
    const { code, stderr, message } = cause as NodeJS.ErrnoException & { readonly stderr?: string };
    if (code === 'ENOENT')
      throw new PolyError(
        'unreachable',
        `no hub is running, and there is no command "${poly}" to start one.`,
        {
          hint: 'Install polyphony (npm install -g polyphony), or name its command in POLY_BIN.',
          cause,
        },
      );
    throw new PolyError(
      'unreachable',
      `no hub is running, and "${poly} server start" failed: ${stderr || message}`,
      {
        cause,
      },
    );
  }
}

/** The command `poly`: the one that is named, the one that was installed beside this plugin, or the one on PATH. */
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
