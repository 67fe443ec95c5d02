import { basename } from 'node:path';
import { claude } from './claude.ts';
import { codex } from './codex.ts';
import { gemini } from './gemini.ts';
import { generic } from './generic.ts';
import { opencode } from './opencode.ts';
import type { Vendor, VendorName } from './vendor.ts';

export const vendors: Readonly<Record<VendorName, Vendor>> = { claude, codex, opencode, gemini, generic };

/** Programs that run an npm package named in their first argument that is no flag. */
const runners = new Set(['npx', 'bunx', 'pnpx']);

/** Whose agent a command line starts: by the program's name, or by its package behind `npx`. */
export function recogniseVendor([program = '', ...args]: readonly string[]): Vendor {
  const called = basename(program).replace(/\.(?:exe|cmd|js)$/, '');
  const run = runners.has(called)
    ? args.find((arg) => !arg.startsWith('-'))?.replace(/(?<=.)@[^@/]*$/, '')
    : undefined;
  return (
    Object.values(vendors).find(({ programs, packages }) =>
      run === undefined ? programs.includes(called) : packages.includes(run) || programs.includes(run),
    ) ?? generic
  );
}
