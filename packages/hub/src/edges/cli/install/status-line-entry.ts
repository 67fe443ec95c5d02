import { isDeepStrictEqual } from 'node:util';
import { isTable } from './document.ts';
import type { Data } from './editor.ts';

/** A status line that a file is to have, where its user has none. */
export interface WishedLine {
  readonly key: string;
  readonly entry: Data;
}

/** What stands there: nothing, ours, ours as another poly wrote it, or the user's own. */
export type LineState = 'none' | 'ours' | 'outdated' | 'own';

export const statusLineEntry = (poly: string): Data => ({
  type: 'command',
  command: `${poly} floor status --line`,
});

/** As it is written wherever poly is. */
const written = /^(?:'(?:[^']*\/)?poly'|(?:[^\s']*\/)?poly) floor status --line$/;

export function lineState(data: Data, { key, entry }: WishedLine): LineState {
  if (!Object.hasOwn(data, key)) return 'none';
  const there = data[key];
  if (isDeepStrictEqual(there, entry)) return 'ours';
  const { command, ...others } = isTable(there) ? there : {};
  const isOurs = typeof command === 'string' && written.test(command);
  return isOurs && isDeepStrictEqual(others, { type: 'command' }) ? 'outdated' : 'own';
}
