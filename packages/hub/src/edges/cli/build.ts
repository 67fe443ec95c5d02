import { join } from 'node:path';
import * as protocol from '@polyphony/protocol';
import { ownVersion } from '../../platform/version.ts';
import type { ActionInfo } from './action-info.ts';

// What the build knows. The bundle has another module in the place of this one, with the same names and the values
// as data (scripts/bundle.ts), so that the command never loads the schema library.

export const version: string = ownVersion();

const folder = join(import.meta.dirname, '..', '..', '..');

/** The program of the daemon. */
export const daemon: string = join(folder, 'dist', 'daemon.cjs');

/** What starts this command from anywhere. */
export const launcher: string = join(folder, 'bin', 'poly');

/** What the hooks of agents start, as it is copied to where it stays. */
export const hooksFolder: string = join(folder, 'hooks');

/** The rules by which screens of agents are read. */
export const screensFolder: string = join(folder, 'screens');

/** What agents are taught about it. */
export const skillFile: string = join(folder, 'skill', 'SKILL.md');

/** What `poly demo` shows. */
export const demoFolder: string = join(folder, 'demo');

/** Every action of the hub itself, with JSON Schemas. */
export function builtInActions(): readonly ActionInfo[] {
  return Object.values(protocol)
    .filter((value) => typeof value === 'object' && 'effect' in value && 'params' in value)
    .map((value) => {
      const { name, summary, scope, effect, params } = value as protocol.Action;
      return { name, summary, scope, effect, params: protocol.jsonSchemaOf(params, 'input') };
    })
    .sort((a, b) => (a.name < b.name ? -1 : 1));
}
