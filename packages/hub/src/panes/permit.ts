import { realpathSync } from 'node:fs';
import { resolve } from 'node:path';
import { PolyError } from '@polyphony/protocol';
import { type Config, judge, type Rules, type Verdict } from '../platform/config.ts';
import type { Caller } from '../registry/caller.ts';
import type { PaneBook } from './pane-book.ts';
import type { PaneRecord } from './pane-record.ts';

const grantHint = 'The user decides: in config.toml, or by running it outside a pane.';

/** The user may act on every pane; a pane on itself, on those it made, and on what config.toml grants. */
export function permitPane(book: PaneBook, { permission }: Config, caller: Caller, paneId: string): void {
  if (caller.pane === undefined || owns(book, caller.pane, paneId)) return;
  // Whether that pane exists is not for everybody to find out, so the refusal comes first.
  require(permission.write, paneId, 'ask', `${caller.pane} may not touch the pane ${paneId}`);
}

/** What a program in a pane may start, and where. */
export function permitSpawn(
  { permission }: Config,
  caller: Caller,
  argv: readonly string[],
  cwd: string,
): void {
  if (caller.pane === undefined) return;
  const line = argv.join(' ');
  require(permission.spawn, line, 'allow', `${caller.pane} may not start "${line}"`);
  require(permission.directory, realFolder(cwd), 'allow', `${caller.pane} may not start anything in ${cwd}`);
}

function require(rules: Rules, subject: string, otherwise: Verdict, refusal: string): void {
  const verdict = judge(rules, subject, otherwise);
  if (verdict === 'allow') return;
  const why =
    verdict === 'ask' ? ': that must be asked for, and nobody can be asked now.' : ': config.toml denies it.';
  throw new PolyError('forbidden', `${refusal}${why}`, { hint: grantHint });
}

/** By the credential each was born with: an id can be taken again, that cannot. */
export function owns(book: PaneBook, owner: string, paneId: string): boolean {
  const birth = book.find(owner)?.tokenHash;
  const seen = new Set<PaneRecord>();
  let current = book.find(paneId);
  while (current && !seen.has(current)) {
    if (current.tokenHash === birth) return true;
    seen.add(current);
    const { createdBy }: PaneRecord = current;
    current = createdBy === null ? undefined : book.list().find(({ tokenHash }) => tokenHash === createdBy);
  }
  return false;
}

/** Where a folder really is, whatever way was named. */
function realFolder(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return resolve(path); // It is not there, and starting in it will fail.
  }
}
