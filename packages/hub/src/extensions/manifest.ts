import { createHash } from 'node:crypto';
import type { Dirent } from 'node:fs';
import { lstat, readdir, readFile, realpath, stat } from 'node:fs/promises';
import { join, relative, sep } from 'node:path';
import { PolyError, reservedNouns } from '@polyphony/protocol';

/** What a folder says about the extension in it, before any of its code has run. */
export interface Manifest {
  /** The folder itself, were it reached through a link. */
  readonly home: string;
  /** The file to load, inside that folder. */
  readonly main: string;
  readonly version?: string;
}

const largestManifest = 1024 * 1024;
const namePattern = /^[a-z0-9][a-z0-9-]{0,39}$/;

/** Why an extension may not be called that, or undefined when it may. */
export function refusedName(name: unknown): string | undefined {
  if (typeof name !== 'string') return 'it exports no name: write export const name = "my-extension".';
  if (!namePattern.test(name))
    return `"${name.slice(0, 60)}" is no extension's name: use 1-40 of a-z, 0-9 and "-", not starting with "-".`;
  if (reservedNouns.some((noun) => noun === name))
    return `"${name}" is a word of the hub's own: choose another name.`;
  return undefined;
}

/** `name` is what messages call the folder, where it lies in another one than people know of. */
export async function readManifest(folder: string, name: string = folder): Promise<Manifest> {
  const home = await realpath(folder);
  const file = join(home, 'package.json');
  const found = await stat(file).catch(() => undefined); // Absent or unreadable: said below.
  if (!found?.isFile()) throw malformed(`${name} has no package.json.`);
  if (found.size > largestManifest) throw malformed(`the package.json of ${name} is larger than 1 MiB.`);
  const { main, version } = parse(await readFile(file, 'utf8'), name);
  if (typeof main !== 'string' || main === '')
    throw malformed(
      `the package.json of ${name} has no "main": name the file to load, for example "index.ts".`,
    );
  const target = await realpath(join(home, main)).catch(() => undefined); // Absent: said below.
  if (target === undefined || !(await stat(target)).isFile())
    throw malformed(`the "main" of ${name} names no file: "${main}".`);
  if (!isInside(home, target)) throw malformed(`the "main" of ${name} lies outside of it: "${main}".`);
  return { home, main: target, ...(typeof version === 'string' && { version }) };
}

function parse(text: string, folder: string): { readonly main?: unknown; readonly version?: unknown } {
  try {
    const json: unknown = JSON.parse(text);
    if (typeof json === 'object' && json !== null) return json;
  } catch {
    // Said below, in our words.
  }
  throw malformed(`the package.json of ${folder} is no JSON object.`);
}

const malformed = (message: string): PolyError => new PolyError('invalid_arguments', message);

export function isInside(folder: string, path: string): boolean {
  const way = relative(folder, path);
  return way !== '' && way !== '..' && !way.startsWith(`..${sep}`) && !way.startsWith(sep);
}

export interface Found {
  readonly path: string;
  readonly entry: Dirent;
}

/** Everything below a folder, in an order that does not change; follows no link, as readdir with `recursive` would. */
export async function* walk(folder: string, skip: ReadonlySet<string> = new Set()): AsyncGenerator<Found> {
  const entries = await readdir(folder, { withFileTypes: true });
  for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
    if (skip.has(entry.name)) continue;
    const path = join(folder, entry.name);
    yield { path, entry };
    if (entry.isDirectory()) yield* walk(path, skip);
  }
}

const unwatched = new Set(['node_modules', '.git']);
const mostWatched = 5000;

/** Another one for a folder whose files have changed. */
export async function fingerprint(folder: string): Promise<string> {
  const hash = createHash('sha256');
  let seen = 0;
  for await (const { path, entry } of walk(await realpath(folder), unwatched)) {
    if (++seen > mostWatched) break;
    if (entry.isDirectory()) continue;
    const { size, mtimeMs, ino } = await lstat(path);
    hash.update(`${path}\n${size} ${mtimeMs} ${ino}\n`);
  }
  return hash.digest('hex');
}
