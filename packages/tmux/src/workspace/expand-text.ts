import { resolve } from 'node:path';
import type { Variables } from './workspace.ts';

/** What texts and paths of a file are read against. */
export interface Place {
  readonly env: NodeJS.ProcessEnv;
  readonly home: string;
  /** The folder of the file. */
  readonly directory: string;
  /** Where panes start that say nothing about it. */
  readonly cwd: string;
}

/** `~` at the start, `$NAME` and `${NAME}`; a name that is not set stays as it is written. */
export function expandText(text: string, { env, home }: Pick<Place, 'env' | 'home'>): string {
  const homed = text === '~' || text.startsWith('~/') ? home + text.slice(1) : text;
  return homed.replace(/\$(?:(\w+)|\{([^}]*)\})/g, (written, bare, braced) => {
    const name: string = bare ?? braced;
    return (Object.hasOwn(env, name) ? env[name] : undefined) ?? written;
  });
}

/** A folder, from the parent's when it is relative. */
export function expandDirectory(
  written: string | null | undefined,
  parent: string,
  place: Place,
): string | undefined {
  return written == null || written === '' ? undefined : resolve(parent, expandText(written, place));
}

/** Variables and options: values that start with a dot are paths from the folder of the file. */
export function expandValues(written: Variables | null | undefined, place: Place): Variables {
  return Object.fromEntries(
    Object.entries(written ?? {}).map(([key, value]) => {
      const text = expandText(value, place);
      return [key, text.startsWith('.') ? resolve(place.directory, text) : text];
    }),
  );
}
