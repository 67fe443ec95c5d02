import { randomBytes } from 'node:crypto';
import {
  closeSync,
  constants,
  fchmodSync,
  fsyncSync,
  lstatSync,
  mkdirSync,
  openSync,
  renameSync,
  rmSync,
  writeSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { PolyError } from '@polyphony/protocol';

/** Makes sure that a folder exists and that nobody else can look into it. */
export function privateDirectory(path: string): string {
  mkdirSync(path, { recursive: true, mode: 0o700 });
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
      hint: `Make it yours alone with: chmod 700 ${path}`,
    });
  }
  return path;
}

/** Replaces a file in one step; after a crash it has either the old or the new text. */
export function writePrivate(path: string, text: string): void {
  const draft = join(dirname(path), `.${randomBytes(6).toString('hex')}.tmp`);
  const fd = openSync(
    draft,
    constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW,
    0o600,
  );
  try {
    fchmodSync(fd, 0o600);
    writeSync(fd, text);
    fsyncSync(fd);
  } catch (error) {
    rmSync(draft, { force: true });
    throw error;
  } finally {
    closeSync(fd);
  }
  renameSync(draft, path);
}
