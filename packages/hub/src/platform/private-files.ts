import { randomBytes } from 'node:crypto';
import {
  closeSync,
  constants,
  fchmodSync,
  fsyncSync,
  lstatSync,
  openSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { PolyError } from '@polyphony/protocol';
import { makeFolder } from './make-folder.ts';

const whereHomeIs = 'POLY_HOME says where everything is kept; ~/.poly when it is not set.';

/** Makes sure that a folder exists and that nobody else can look into it. */
export function privateDirectory(path: string): string {
  makeFolder(path, { mode: 0o700, hint: whereHomeIs });
  const stat = lstatSync(path);
  const problem = !stat.isDirectory()
    ? 'is not a folder'
    : process.getuid && stat.uid !== process.getuid()
      ? 'belongs to somebody else'
      : stat.mode & 0o077
        ? `can be read by others (mode ${(stat.mode & 0o777).toString(8)})`
        : undefined;
  if (problem) {
    throw new PolyError('conflict', `${path} ${problem}, so that nothing private can be kept there.`, {
      hint: stat.isDirectory() ? `Make it yours alone with: chmod 700 ${path}` : whereHomeIs,
    });
  }
  return path;
}

/** Replaces a file in one step; after a crash it has either the old or the new text. */
export function writePrivate(path: string, text: string | Uint8Array, mode: 0o600 | 0o700 = 0o600): void {
  const draft = join(dirname(path), `.${randomBytes(6).toString('hex')}.tmp`);
  const fd = openSync(
    draft,
    constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW,
    mode,
  );
  try {
    fchmodSync(fd, mode);
    writeFileSync(fd, text);
    fsyncSync(fd);
  } catch (error) {
    rmSync(draft, { force: true });
    throw error;
  } finally {
    closeSync(fd);
  }
  renameSync(draft, path);
}
