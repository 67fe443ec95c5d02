import { mkdirSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { PolyError } from '@polyphony/protocol';

interface FolderOptions {
  readonly mode?: number;
  /** What to do where it cannot be made. */
  readonly hint: string;
}

/** With all above it; one by one, for where no folder can be made (/proc) Node's own way tries for ever. */
export function makeFolder(path: string, options: FolderOptions): void {
  try {
    if (statSync(path, { throwIfNoEntry: false })) return;
    if (dirname(path) !== path) makeFolder(dirname(path), options);
    mkdirSync(path, { mode: options.mode ?? 0o777 });
  } catch (cause) {
    if (cause instanceof PolyError) throw cause;
    if ((cause as NodeJS.ErrnoException).code === 'EEXIST') return; // Somebody else was faster.
    const message = `the folder ${path} cannot be made: ${(cause as Error).message}.`;
    throw new PolyError('unavailable', message, { hint: options.hint, cause });
  }
}
