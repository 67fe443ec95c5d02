import type { ScreenTable } from './screen-table.ts';
import { compareVersions } from './version.ts';

type Range = Pick<ScreenTable, 'from' | 'to'>;

/**
 * Which tables are tried, and in which order: the newest first, and of equals the one that came first. Where the
 * version is known, those that hold for it; an agent older than all that was recorded is tried with the oldest.
 */
export function chooseTables<T extends Range>(
  tables: readonly T[],
  version: string | undefined,
): readonly T[] {
  const newestFirst = tables.toSorted((one, other) => compareVersions(other.from, one.from));
  if (version === undefined) return newestFirst;
  const open = newestFirst.filter(({ to }) => to === undefined || compareVersions(version, to) <= 0);
  const begun = open.filter(({ from }) => compareVersions(from, version) <= 0);
  if (begun.length > 0) return begun;
  const oldest = open.at(-1)?.from;
  return open.filter(({ from }) => from === oldest);
}
