import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** The version of the package this code is part of, however it was built. */
export function ownVersion(): string {
  for (let folder = import.meta.dirname; folder !== dirname(folder); folder = dirname(folder)) {
    try {
      const manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Record<
        string,
        string
      >;
      if (manifest.name === 'polyphony') return manifest.version ?? '0';
    } catch {
      // Not in this folder.
    }
  }
  return '0';
}
