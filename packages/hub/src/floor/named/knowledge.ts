import {
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readSync,
  realpathSync,
  rmSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { type KnowledgeFile, type KnowledgeText, knowledgeLimits, PolyError } from '@polyphony/protocol';
import { privateDirectory, writePrivate } from '../../platform/private-files.ts';

/** A file that is meant: one for everybody, or of the project of that key. */
export interface KnowledgePlace {
  readonly path: string;
  readonly project?: string | undefined;
}

const deepest = 4;
const defaultBytes = 16_384;

/** Files that the user keeps for agents: `shared` for everybody, and a folder for each project. Links lead nowhere. */
export class Knowledge {
  readonly #root: string;

  constructor(root: string) {
    this.#root = root;
  }

  list(project: string | undefined): readonly KnowledgeFile[] {
    const places = [undefined, ...(project === undefined ? [] : [project])];
    return places.flatMap((one) => [...this.#filesIn(this.#folderOf(one))].map((file) => shown(file, one)));
  }

  /** A piece of the file of the project, else of that for everybody; it begins and ends between characters. */
  read(
    { path, project }: KnowledgePlace,
    {
      from = 0,
      maxBytes = defaultBytes,
    }: { readonly from?: number | undefined; readonly maxBytes?: number | undefined },
  ): KnowledgeText {
    const places = [...(project === undefined ? [] : [project]), undefined];
    for (const one of places) {
      const fd = this.#open(path, one);
      if (fd === undefined) continue;
      try {
        const { size, mtimeMs } = fstatSync(fd);
        const bytes = Buffer.alloc(Math.min(maxBytes + 4, Math.max(0, size - from)));
        const got = bytes.subarray(0, readSync(fd, bytes, 0, bytes.length, from));
        const begin = from === 0 ? 0 : firstWhole(got);
        const end = from + got.length >= size ? got.length : lastWhole(got, maxBytes);
        const piece = got.subarray(begin, Math.max(begin, end));
        if (piece.includes(0)) throw notText(path);
        const next = from + Math.max(begin, end);
        return {
          ...shown({ path, bytes: size, changedAt: mtimeMs }, one),
          ...{ text: piece.toString('utf8'), from: from + begin },
          ...(next < size && { next }),
        };
      } finally {
        closeSync(fd);
      }
    }
    throw unknownFile(path, project);
  }

  write({ path, project }: KnowledgePlace, text: string): KnowledgeFile {
    const folder = this.#folderOf(project);
    const bytes = Buffer.byteLength(text);
    const others = [...this.#filesIn(folder)].filter((one) => one.path !== path);
    const all = others.reduce((sum, one) => sum + one.bytes, bytes);
    if (others.length >= knowledgeLimits.files || all > knowledgeLimits.allBytes)
      throw new PolyError(
        'conflict',
        `there are ${others.length} files of knowledge with ${all - bytes} bytes.`,
        {
          hint: `At most ${knowledgeLimits.files} files and ${knowledgeLimits.allBytes} bytes are kept: remove some first.`,
        },
      );
    privateDirectory(this.#root);
    const target = join(folder, path);
    mkdirSync(dirname(target), { recursive: true, mode: 0o700 });
    this.#within(dirname(target), path);
    const there = lstatSync(target, { throwIfNoEntry: false });
    if (there && !there.isFile()) throw notAFile(path);
    writePrivate(target, text);
    return shown({ path, bytes, changedAt: lstatSync(target).mtimeMs }, project);
  }

  remove({ path, project }: KnowledgePlace): KnowledgeFile {
    const target = join(this.#folderOf(project), path);
    const there = lstatSync(target, { throwIfNoEntry: false });
    if (!there) throw unknownFile(path, project);
    this.#within(dirname(target), path);
    if (!there.isFile() && !there.isSymbolicLink()) throw notAFile(path);
    rmSync(target);
    return shown({ path, bytes: there.size, changedAt: there.mtimeMs }, project);
  }

  #folderOf(project: string | undefined): string {
    if (project === undefined) return join(this.#root, 'shared');
    if (Buffer.byteLength(project) <= 240) return join(this.#root, 'projects', project);
    throw new PolyError('invalid_arguments', `"${project}" is too long a name for a folder of knowledge.`, {
      hint: 'Keep it for everybody: leave the project out.',
    });
  }

  /** A file that is really there; nothing where none is, and a refusal where it is something else. */
  #open(path: string, project: string | undefined): number | undefined {
    const target = join(this.#folderOf(project), path);
    let fd: number;
    try {
      this.#within(dirname(target), path);
      fd = openSync(target, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
      if (code === 'ELOOP') throw notAFile(path);
      throw error;
    }
    if (fstatSync(fd).isFile()) return fd;
    closeSync(fd);
    throw notAFile(path);
  }

  /** Throws where a folder leads out of ours by a link. */
  #within(folder: string, path: string): void {
    const real = realpathSync(folder);
    const root = realpathSync(this.#root);
    if (real !== join(root, folder.slice(this.#root.length))) throw notAFile(path);
  }

  *#filesIn(
    folder: string,
    below = '',
    depth = 1,
    left: { files: number } = { files: knowledgeLimits.files },
  ): Generator<{ readonly path: string; readonly bytes: number; readonly changedAt: number }> {
    let names: readonly string[];
    try {
      if (!lstatSync(folder).isDirectory()) return;
      names = readdirSync(folder).sort();
    } catch {
      return; // Nothing is kept there yet.
    }
    for (const name of names) {
      if (left.files <= 0) return;
      if (name.startsWith('.')) continue;
      const there = lstatSync(join(folder, name), { throwIfNoEntry: false });
      const path = `${below}${name}`;
      if (there?.isDirectory() && depth < deepest)
        yield* this.#filesIn(join(folder, name), `${path}/`, depth + 1, left);
      if (!there?.isFile()) continue;
      left.files -= 1;
      yield { path, bytes: there.size, changedAt: there.mtimeMs };
    }
  }
}

function shown(
  { path, bytes, changedAt }: { readonly path: string; readonly bytes: number; readonly changedAt: number },
  project: string | undefined,
): KnowledgeFile {
  return {
    ...{ path, ...(project !== undefined && { project }), bytes },
    changed_at: new Date(changedAt).toISOString(),
  };
}

/** How many bytes at the beginning belong to a character that begins before. */
function firstWhole(bytes: Buffer): number {
  let at = 0;
  while (at < 3 && at < bytes.length && ((bytes[at] ?? 0) & 0xc0) === 0x80) at += 1;
  return at;
}

/** Where the last character ends that is whole within so many bytes. */
function lastWhole(bytes: Buffer, most: number): number {
  let at = Math.min(most, bytes.length);
  while (at > 0 && ((bytes[at] ?? 0) & 0xc0) === 0x80) at -= 1;
  return at === 0 ? Math.min(most, bytes.length) : at;
}

function unknownFile(path: string, project: string | undefined): PolyError {
  const where = project === undefined ? '' : ` of the project "${project}", nor for everybody`;
  return new PolyError('not_found', `there is no file of knowledge "${path}"${where}.`, {
    hint: 'poly knowledge list shows what there is.',
  });
}

const notAFile = (path: string): PolyError =>
  new PolyError('forbidden', `"${path}" is no plain file inside the folder of knowledge.`, {
    hint: 'Links and other things are not followed: keep the file itself there.',
  });

const notText = (path: string): PolyError =>
  new PolyError('conflict', `"${path}" is no text.`, { hint: 'Knowledge is text: keep it as Markdown.' });
