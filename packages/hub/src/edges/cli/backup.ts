import { accessSync, constants, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { PolyError } from '@polyphony/protocol';
import type { Call } from './command.ts';
import { fileTrouble } from './file-trouble.ts';

/** The hub writes the file; what keeps it from being written is told before, by the name that was given. */
export async function backup({
  args: [file],
  flags: { force = false },
  hub,
  out,
  json,
}: Call & { flags: { readonly force?: boolean } }): Promise<void> {
  if (file !== undefined) refuse(file, force);
  const made = await hub.call('server:backup', file === undefined ? {} : { file: resolve(file) });
  if (json) out.json(made);
  else out.line(`wrote ${made.file} (${made.bytes} bytes)`);
}

function refuse(file: string, force: boolean): void {
  try {
    const folder = dirname(resolve(file));
    accessSync(statSync(folder).isDirectory() ? folder : `${folder}/.`, constants.W_OK);
    const there = statSync(file, { throwIfNoEntry: false });
    if (there?.isDirectory()) throw Object.assign(new Error('it is a folder'), { code: 'EISDIR' });
    if (!there || force) return;
  } catch (cause) {
    throw fileTrouble(file, 'written', cause);
  }
  throw new PolyError('conflict', `${file} is there already.`, { hint: 'Say --force to replace it.' });
}
