import { PolyError } from '@polyphony/protocol';
import { type Config, judge, type Rules, type Verdict } from '../platform/config.ts';
import type { Caller } from '../registry/caller.ts';
import type { PaneBook } from './pane-book.ts';

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
  require(permission.directory, cwd, 'allow', `${caller.pane} may not start anything in ${cwd}`);
}

function require(rules: Rules, subject: string, otherwise: Verdict, refusal: string): void {
  const verdict = judge(rules, subject, otherwise);
  if (verdict === 'allow') return;
  const why =
    verdict === 'ask' ? ': that must be asked for, and nobody can be asked now.' : ': config.toml denies it.';
  throw new PolyError('forbidden', `${refusal}${why}`, { hint: grantHint });
}

function owns(book: PaneBook, owner: string, paneId: string): boolean {
  const seen = new Set<string>();
  let current: string | null = paneId;
  while (current !== null && !seen.has(current)) {
    if (current === owner) return true;
    seen.add(current);
    current = book.find(current)?.createdBy ?? null;
  }
  return false;
}
