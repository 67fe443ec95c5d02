import { randomBytes } from 'node:crypto';
import {
  closeSync,
  constants,
  existsSync,
  fchmodSync,
  fchownSync,
  fsyncSync,
  lstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmdirSync,
  rmSync,
  type Stats,
  statSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { PolyError } from '@polyphony/protocol';
import { fileTrouble } from '../file-trouble.ts';
import { shellWord } from '../shell-word.ts';

/** A file of somebody else's program, as it was read. */
export interface UserFile {
  /** Where it really is, behind all links. */
  readonly path: string;
  /** Undefined when there is none. */
  readonly text: string | undefined;
  readonly stat?: Stats;
}

export function readUserFile(given: string): UserFile {
  try {
    if (!lstatSync(given, { throwIfNoEntry: false })) return { path: behindLinks(given), text: undefined };
    if (!existsSync(given))
      throw new PolyError('conflict', `${given} is a link that leads nowhere.`, {
        hint: `Remove it, or make what it leads to: ls -l ${shellWord(given)}`,
      });
    const path = realpathSync(given);
    const stat = statSync(path);
    // A pipe or a device could be read for ever.
    if (!stat.isFile() && !stat.isDirectory())
      throw new PolyError('conflict', `${given} is no file that could be read.`, {
        hint: `See what it is: ls -lL ${shellWord(given)}`,
      });
    return { path, text: decoded(given, readFileSync(path)), stat };
  } catch (cause) {
    throw cause instanceof PolyError ? cause : fileTrouble(given, 'read', cause);
  }
}

/** Where a file will be that is not there yet. */
function behindLinks(path: string): string {
  if (existsSync(path)) return realpathSync(path);
  return dirname(path) === path ? path : join(behindLinks(dirname(path)), basename(path));
}

function decoded(path: string, bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (cause) {
    throw new PolyError('conflict', `${path} is not text in UTF-8. Nothing was changed.`, {
      hint: 'Save it as UTF-8, then try again.',
      cause,
    });
  }
}

/** Says before anything is done what would keep the file from being written. */
export function requireWritable({ path, stat }: UserFile): void {
  // The bits are asked rather than the system, which lets root write everything and a rename pass by them.
  if (stat && (stat.mode & 0o222) === 0)
    throw new PolyError('forbidden', `${path} is read-only. Nothing was changed.`, {
      hint: `To let poly change it: chmod u+w ${shellWord(path)}`,
    });
}

/**
 * Replaces a file in one step, with the mode and the owner it had. What somebody else has written since it was read is
 * not overwritten.
 */
export function writeUserFile(file: UserFile, text: string, newMode: number): void {
  const { path, stat } = file;
  const draft = join(dirname(path), `.poly-${randomBytes(6).toString('hex')}.tmp`);
  try {
    mkdirSync(dirname(path), { recursive: true });
    const fd = openSync(draft, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL, newMode);
    try {
      if (stat) {
        fchmodSync(fd, stat.mode & 0o7777);
        if (stat.uid !== process.getuid?.() || stat.gid !== process.getgid?.())
          fchownSync(fd, stat.uid, stat.gid);
      }
      writeFileSync(fd, text);
      fsyncSync(fd);
    } finally {
      closeSync(fd);
    }
    requireUnchanged(file);
    renameSync(draft, path);
  } catch (cause) {
    rmSync(draft, { force: true });
    throw cause instanceof PolyError ? cause : fileTrouble(path, 'written', cause);
  }
}

/** Takes a file away, with those of the folders that this leaves empty. */
export function removeUserFile(file: UserFile, folders: readonly string[]): void {
  requireUnchanged(file);
  try {
    rmSync(file.path);
  } catch (cause) {
    throw fileTrouble(file.path, 'written', cause);
  }
  for (const folder of folders)
    try {
      rmdirSync(folder);
    } catch {
      return; // Somebody else keeps something there now.
    }
}

function requireUnchanged({ path, text }: UserFile): void {
  if (readUserFile(path).text === text) return;
  throw new PolyError(
    'conflict',
    `${path} was changed by somebody else at this moment. It was left as it is.`,
    {
      hint: 'Try again.',
    },
  );
}

/** The folders that have to be made for a file, the deepest first, as they have to be removed. */
export function missingFolders(path: string): readonly string[] {
  const missing: string[] = [];
  for (let folder = dirname(path); !existsSync(folder); folder = dirname(folder)) missing.push(folder);
  return missing;
}
