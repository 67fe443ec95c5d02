import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { sep } from 'node:path';
import type { Jiti } from 'jiti';

export interface ModuleLoader {
  load(file: string): Promise<Readonly<Record<string, unknown>>>;
  /** Lets the files of a folder be read anew. */
  forget(folder: string): void;
}

/** What an extension gets without installing it: all of zod, of which the hub itself carries only what it uses. */
function given(): Readonly<Record<string, Readonly<Record<string, unknown>>>> {
  const zod = createRequire(import.meta.url)('zod') as Readonly<Record<string, unknown>>;
  return { zod, 'zod/v4': zod, 'poly/types': {}, 'polyphony/types': {} };
}

export function createModuleLoader(): ModuleLoader {
  let jiti: Jiti | undefined;
  return {
    async load(file) {
      // Not before there is an extension: a hub without one should not carry a compiler.
      jiti ??= (await import('jiti')).createJiti(import.meta.url, {
        virtualModules: given(),
        // By default compiled files are kept in a folder of /tmp, where other users could plant theirs.
        fsCache: false,
        // Otherwise `name` of a module without that export is the name of its default function.
        interopDefault: false,
      });
      // Not jiti.import: that gives plain JavaScript to Node, which never reads it anew and knows no other zod.
      const options = { filename: file, async: true, forceTranspile: true };
      return (await jiti.evalModule(await readFile(file, 'utf8'), options)) as Record<string, unknown>;
    },
    forget(folder) {
      for (const file of Object.keys(jiti?.cache ?? {}))
        if (file.startsWith(folder + sep)) delete jiti?.cache[file];
    },
  };
}
