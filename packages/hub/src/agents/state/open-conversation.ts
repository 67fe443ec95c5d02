import { closeSync, openSync, readSync, statSync } from 'node:fs';
import { openFilesOf, processesBelow } from '../processes.ts';
import type { VendorName } from '../vendors/vendor.ts';
import { vendors } from '../vendors/vendors.ts';

/** Which conversation an agent is in: of the files it holds open for them the one it wrote to last; null without one. */
export function openConversation(vendor: VendorName, pid: number): string | null {
  const { openFile } = vendors[vendor];
  if (openFile === undefined || pid <= 0) return null;
  const paths = processesBelow(pid)
    .flatMap(openFilesOf)
    .filter((path) => openFile.name.test(path));
  const found = [...new Set(paths)].map((path) => ({ path, at: writtenAt(path) }));
  const [last] = found
    .filter(({ path, at }) => at > 0 && !openFile.unless.test(beginningOf(path)))
    .toSorted((a, b) => b.at - a.at);
  return openFile.name.exec(last?.path ?? '')?.[1] ?? null;
}

const writtenAt = (path: string): number => statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;

const mostBytes = 1024;

function beginningOf(path: string): string {
  try {
    const file = openSync(path, 'r');
    try {
      const bytes = Buffer.alloc(mostBytes);
      return bytes.toString('utf8', 0, readSync(file, bytes));
    } finally {
      closeSync(file);
    }
  } catch {
    return ''; // Removed meanwhile.
  }
}
