import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join, resolve } from 'node:path';
import { type Client, PolyError } from '@polyphony/protocol';
import { launcher } from './build.ts';
import type { Env } from './env.ts';
import type { Output } from './output.ts';
import { shellWord } from './shell-word.ts';

const mark = '# The file guard of poly: poly file guard uninstall takes it away again.';

/** Hooks such as those of husky find their parts by the name git calls them by, so a shell runs them under that. */
const script = (): string => `#!/bin/sh
${mark}
before="$0.before-poly"
if [ -x "$before" ]; then
  IFS= read -r first <"$before"
  case $first in
    '#!'*[/\\ ]sh | '#!'*[/\\ ]bash | '#!'*[/\\ ]dash | '#!'*[/\\ ]sh\\ -* | '#!'*[/\\ ]bash\\ -* | '#!'*[/\\ ]dash\\ -*)
      \${first#??} -c '. "$0.before-poly"' "$0" "$@" || exit $? ;;
    *) "$before" "$@" || exit $? ;;
  esac
fi
poly=${shellWord(launcher)}
if [ ! -x "$poly" ]; then echo 'poly is gone: the file guard lets this commit pass.' >&2; exit 0; fi
exec "$poly" file guard check
`;

interface Hook {
  readonly file: string;
  /** What was there before, which is run first. */
  readonly before: string;
  readonly isOurs: boolean;
}

/** Puts the guard before every commit; a hook that is there goes on being run, and first. */
export function installGuard(out: Output, json: boolean): void {
  const { file, before, isOurs } = findHook();
  const isThere = lstatSync(file, { throwIfNoEntry: false }) !== undefined;
  if (isThere && !isOurs) {
    if (existsSync(before))
      throw new PolyError('conflict', `${before} is in the way of your own hook.`, {
        hint: 'Move it elsewhere first.',
      });
    renameSync(file, before);
  }
  writeFileSync(file, script());
  chmodSync(file, 0o755);
  const ownHook = existsSync(before);
  if (json) out.json({ file, ownHook });
  else out.line(`${file} guards the claims of others${ownHook ? ', after your own hook' : ''}.`);
}

export function uninstallGuard(out: Output, json: boolean): void {
  const { file, before, isOurs } = findHook();
  if (isOurs) {
    rmSync(file);
    if (existsSync(before)) renameSync(before, file);
  }
  if (json) out.json({ file, removed: isOurs });
  else if (isOurs) out.line(`${file} is as it was.`);
  else out.note(`There is no guard in ${file}.`);
}

/**
 * What git runs before a commit. Whoever cannot be asked holds up nobody: claims are an agreement between those who
 * work together, and no lock.
 */
export async function checkCommit(hub: Client, { POLY_FILE_GUARD: wish }: Env, out: Output): Promise<number> {
  if (wish === 'off') return 0;
  const paths = stagedPaths();
  if (paths.length === 0) return 0;
  const root = git('rev-parse', '--show-toplevel').trim();
  const blocked = [];
  try {
    for (let i = 0; i < paths.length; i += 1000)
      blocked.push(...(await hub.call('file:check', { root, paths: paths.slice(i, i + 1000) })).blocked);
  } catch (error) {
    out.note(
      `The file guard lets this commit pass, for the hub could not be asked: ${(error as Error).message}`,
    );
    return 0;
  }
  if (blocked.length === 0) return 0;
  for (const { meets, holder, pattern, until, reason } of blocked.slice(0, 20))
    out.note(`${meets} is claimed by ${holder} (${pattern}${reason ? `, ${reason}` : ''}) until ${until}.`);
  if (wish === 'warn') return 0;
  out.note('Ask who holds it, commit other files, or commit all the same with POLY_FILE_GUARD=off.');
  return 1;
}

/** Of a file that was moved both names. */
function stagedPaths(): readonly string[] {
  const words = git('diff', '--cached', '--name-status', '-z', '-M').split('\0');
  const paths: string[] = [];
  for (let i = 0; i + 1 < words.length; ) {
    const count = /^[RC]/.test(words[i] ?? '') ? 2 : 1;
    paths.push(...words.slice(i + 1, i + 1 + count));
    i += 1 + count;
  }
  return paths;
}

function findHook(): Hook {
  const folder = resolve(git('rev-parse', '--git-path', 'hooks').trim());
  mkdirSync(folder, { recursive: true });
  const file = join(folder, 'pre-commit');
  const isOurs = existsSync(file) && readFileSync(file, 'utf8').includes(mark);
  return { file, before: `${file}.before-poly`, isOurs };
}

function git(...args: readonly string[]): string {
  try {
    return execFileSync('git', args, {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'pipe'],
      maxBuffer: 64 * 1024 * 1024,
    });
  } catch (cause) {
    const said = String((cause as { readonly stderr?: unknown }).stderr ?? '').trim();
    throw new PolyError('unavailable', `git ${args[0]} failed: ${said || (cause as Error).message}`, {
      hint: 'The guard is for a folder under git.',
      cause,
    });
  }
}
