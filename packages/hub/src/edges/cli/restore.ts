import { accessSync, constants, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { PolyError } from '@polyphony/protocol';
import { takeInstanceLock } from '../../platform/instance-lock.ts';
import { placesOf } from '../../platform/places.ts';
import { privateDirectory } from '../../platform/private-files.ts';
import type { Call } from './command.ts';
import { fileTrouble } from './file-trouble.ts';

/** Holds the hub's own lock meanwhile, so that none can start on half a record. */
export async function restore({ args: [given = ''], offline, env, out, json }: Call): Promise<void> {
  const from = resolve(given);
  try {
    if (statSync(from).isDirectory()) throw Object.assign(new Error('it is a folder'), { code: 'EISDIR' });
    accessSync(from, constants.R_OK);
  } catch (cause) {
    throw fileTrouble(from, 'read', cause);
  }
  const places = placesOf(env);
  privateDirectory(places.home);
  const lock = takeInstanceLock(places.lock);
  if (!lock)
    throw new PolyError('conflict', 'a hub is running on the record that would be replaced.', {
      hint: 'Stop it first: poly server stop (panes live on)',
    });
  try {
    const restored = await offline.restoreRecord(from, places.database);
    if (json) return out.json({ from, ...restored });
    out.line(`The record is that of ${from} again.`);
    if (restored.aside) out.line(`What was there is in ${restored.aside}`);
  } catch (cause) {
    const hint =
      (cause as { readonly code?: string }).code === 'newer'
        ? 'Restore it with the version that wrote it, or a newer one.'
        : `Give a file that poly backup wrote; those the hub makes itself are ${places.database}.backup-…`;
    throw new PolyError('action_failed', (cause as Error).message, { hint, cause });
  } finally {
    lock.release();
  }
}
