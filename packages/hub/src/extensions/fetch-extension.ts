import { constants } from 'node:fs';
import { chmod, copyFile, lstat, mkdir, readlink, realpath, symlink } from 'node:fs/promises';
import { basename, isAbsolute, join, relative } from 'node:path';
import { PolyError } from '@polyphony/protocol';
import { git } from './git.ts';
import { isInside, walk } from './manifest.ts';

export interface Limits {
  readonly bytes: number;
  readonly files: number;
  readonly gitMs: number;
}

export interface FetchOptions {
  /** An empty folder to work in, inside the extensions directory. Nothing is written outside of it. */
  readonly staging: string;
  readonly directory: string;
  readonly limits?: Limits;
}

export interface Fetched {
  /** The extension's files, inside the staging folder. */
  readonly folder: string;
  /** What its folder should be called. */
  readonly name: string;
  /** Where it came from, for the log. */
  readonly origin: { readonly from: string; readonly commit?: string };
}

const usualLimits: Limits = { bytes: 50 * 1024 * 1024, files: 5000, gitMs: 120_000 };
const hint = 'Say https://…, ssh://…, git@host:path, file:///…, or the whole path of a folder.';

/** Copies an extension's files; runs nothing of it, neither hook nor filter nor install script. */
export async function fetchExtension(
  from: string,
  { staging, directory, limits = usualLimits }: FetchOptions,
): Promise<Fetched> {
  const budget = new Budget(from, limits);
  const folder = join(staging, 'files');
  const origin = isGitAddress(from)
    ? { from, commit: await cloneInto(folder, join(staging, 'git'), from, budget) }
    : { from: await copyFrom(from, folder, directory, budget) };
  await checkLinks(folder, from);
  return { folder, name: folderNameOf(origin.from), origin };
}

/** Fails closed: what is neither a path nor one of these addresses is refused, `ext::sh -c …` above all. */
function isGitAddress(from: string): boolean {
  if (/[\0-\x1f\x7f]/.test(from))
    throw refused(`the address has control characters: ${JSON.stringify(from)}.`, hint);
  if (isAbsolute(from)) return false;
  if (/^git@[a-z0-9][a-z0-9.-]*:[^-:][^:]*$/i.test(from)) return true;
  const url = URL.parse(from);
  if (url?.password)
    throw refused(
      'the address holds a password, which would be kept in the log.',
      'Use ssh, or a credential helper of git.',
    );
  if (url?.protocol === 'http:' || url?.protocol === 'git:')
    throw refused(
      `${url.protocol}// is not encrypted: whoever sits in between could send other code, which would run with your rights (given: ${from}).`,
      `Say ${from.replace(/^(http|git):/i, 'https:')}, or ssh://…`,
    );
  if (!url || !['https:', 'ssh:', 'file:'].includes(url.protocol) || !from.startsWith(`${url.protocol}//`))
    throw refused(`"${from}" is neither a git address nor a whole path.`, hint);
  const hostless = url.protocol === 'file:';
  if (hostless ? url.host !== '' : !/^[a-z0-9[]/i.test(url.host) || url.username.startsWith('-'))
    throw refused(`"${from}" names no host that can be asked.`, hint);
  return true;
}

function folderNameOf(from: string): string {
  const name = basename(from)
    .replace(/\.git$/, '')
    .toLowerCase()
    .replace(/[^a-z0-9-]+/g, '-')
    .replace(/^-+|-+$/g, '');
  return name || 'extension';
}

async function copyFrom(path: string, target: string, directory: string, budget: Budget): Promise<string> {
  const source = await realpath(path).catch(() => undefined); // Absent: said below.
  if (source === undefined || !(await lstat(source)).isDirectory())
    throw new PolyError('not_found', `there is no folder ${path}.`, { hint });
  const ours = await realpath(directory);
  if (source === ours || isInside(source, ours) || isInside(ours, source))
    throw refused(
      `${path} holds the extensions directory, or lies in it.`,
      'What lies there is loaded already: poly ext list.',
    );
  await copyFolder(source, target, budget);
  return source;
}

async function copyFolder(source: string, target: string, budget: Budget): Promise<void> {
  await mkdir(target, { mode: 0o700 });
  for await (const { path, entry } of walk(source, new Set(['.git']))) {
    const to = join(target, relative(source, path));
    const { size, mode } = await lstat(path);
    budget.take(entry.isFile() ? size : 0);
    if (entry.isDirectory()) await mkdir(to, { mode: 0o700 });
    else if (entry.isSymbolicLink()) await symlink(await readlink(path), to);
    else if (entry.isFile()) {
      await copyFile(path, to, constants.COPYFILE_EXCL);
      await chmod(to, mode & 0o700);
    } else throw refused(`${path} is neither file, folder nor link.`);
  }
}

/** A link may lead to another file of the extension, as npm makes them, and nowhere else. */
async function checkLinks(root: string, from: string): Promise<void> {
  const home = await realpath(root);
  for await (const { path, entry } of walk(home)) {
    if (!entry.isSymbolicLink()) continue;
    const target = await realpath(path).catch(() => undefined); // Leads nowhere, or round in a circle.
    if (target === undefined || !isInside(home, target))
      throw refused(`${from} has a link that leads out of it: ${relative(home, path)}.`);
  }
}

/** The tree is judged while it is still packed: neither a bomb nor a link reaches the disk unseen. Answers the commit. */
async function cloneInto(folder: string, store: string, from: string, budget: Budget): Promise<string> {
  const { limits } = budget;
  const stop = new AbortController();
  // Git has no limit for what it receives. Absent for a moment, it is measured the next time.
  const watch = async (): Promise<void> => {
    if ((await measure(store).catch(() => 0)) > limits.bytes) stop.abort(budget.exceeded());
  };
  const watching = setInterval(() => void watch(), 100);
  try {
    await git(
      ['clone', '--bare', '--depth', '1', '--single-branch', '--no-tags', '--template=', '--', from, store],
      { signal: stop.signal, timeout: limits.gitMs, from },
    );
    // Nothing changes any more: what could not be measured now must not pass for nothing.
    if ((await measure(store)) > limits.bytes) throw budget.exceeded();
  } catch (error) {
    throw stop.signal.aborted ? stop.signal.reason : error;
  } finally {
    clearInterval(watching);
  }
  const inStore = ['--git-dir', store];
  const listing = await git([...inStore, 'ls-tree', '-r', '-l', '-z', 'HEAD']);
  for (const line of listing.split('\0').slice(0, -1)) {
    const size = Number(line.slice(0, line.indexOf('\t')).split(/ +/)[3]);
    budget.take(Number.isNaN(size) ? 0 : size);
  }
  await mkdir(folder, { mode: 0o700 });
  // Without the user's configuration no filter is known, so that .gitattributes can start none.
  await git(
    ['-c', 'core.bare=false', ...inStore, '--work-tree', folder, 'checkout', '--force', 'HEAD', '--', '.'],
    {
      env: { GIT_CONFIG_GLOBAL: '/dev/null', GIT_CONFIG_NOSYSTEM: '1' },
    },
  );
  await keepPrivate(folder);
  return (await git([...inStore, 'rev-parse', 'HEAD'])).trim();
}

/** Git makes files as the user's umask says, for others to read. */
async function keepPrivate(folder: string): Promise<void> {
  for await (const { path, entry } of walk(folder))
    if (!entry.isSymbolicLink()) await chmod(path, (await lstat(path)).mode & 0o700);
}

async function measure(folder: string): Promise<number> {
  let bytes = 0;
  for await (const { path, entry } of walk(folder)) if (entry.isFile()) bytes += (await lstat(path)).size;
  return bytes;
}

class Budget {
  readonly limits: Limits;
  readonly #from: string;
  #bytes = 0;
  #files = 0;

  constructor(from: string, limits: Limits) {
    this.#from = from;
    this.limits = limits;
  }

  take(bytes: number): void {
    this.#bytes += bytes;
    this.#files += 1;
    if (this.#bytes > this.limits.bytes || this.#files > this.limits.files) throw this.exceeded();
  }

  exceeded(): PolyError {
    const { bytes, files } = this.limits;
    return new PolyError(
      'too_large',
      `${this.#from} has more than ${files} files or ${Math.round(bytes / 1024 / 1024)} MB.`,
    );
  }
}

const refused = (message: string, hint?: string): PolyError =>
  new PolyError('forbidden', message, hint === undefined ? {} : { hint });
