import { existsSync, readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { basename, dirname, join, resolve } from 'node:path';
import { PolyError, reservedNouns } from '@polyphony/protocol';
import { makeFolder } from '../platform/make-folder.ts';

/** Of this machine, and so not for git: where the types lie. */
const machineConfig = join('.poly', 'tsconfig.json');

/**
 * Writes an extension to begin with, which type-checks with plain `tsc`, and answers which files it wrote. Files that
 * are there stay as they are; only `.poly/tsconfig.json` is written anew, so that a folder can come from elsewhere.
 */
export async function initExtension(directory: string): Promise<readonly string[]> {
  const folder = resolve(directory);
  makeFolder(join(folder, dirname(machineConfig)), { hint: 'Name another folder.' });
  await writeFile(join(folder, machineConfig), json(typesOfThisMachine()));
  const written = [machineConfig];
  for (const [file, text] of Object.entries(templateOf(nameFor(folder)))) {
    try {
      await writeFile(join(folder, file), text, { flag: 'wx' });
      written.push(file);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
  }
  return written;
}

function nameFor(folder: string): string {
  const plain = basename(folder)
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-+/, '')
    .slice(0, 30)
    .replace(/-+$/, '');
  const reserved = reservedNouns.some((noun) => noun === plain);
  return reserved || plain === '' ? `my-${plain || 'extension'}` : plain;
}

const templateOf = (name: string): Readonly<Record<string, string>> => ({
  'package.json': json({ name, version: '0.1.0', private: true, type: 'module', main: 'index.ts' }),
  'tsconfig.json': json({
    extends: './.poly/tsconfig.json',
    compilerOptions: {
      target: 'es2024',
      lib: ['es2024', 'dom'],
      module: 'preserve',
      strict: true,
      skipLibCheck: true,
      verbatimModuleSyntax: true,
      allowImportingTsExtensions: true,
      noEmit: true,
    },
    exclude: ['node_modules'],
  }),
  '.gitignore': 'node_modules/\n.poly/\n',
  'index.ts': `import type { ExtensionAPI } from 'poly/types';
import { z } from 'zod';

export const name = '${name}';

export default (poly: ExtensionAPI): void => {
  poly.registerAction({
    name: 'hello',
    summary: 'Greets somebody.',
    parameters: z.strictObject({ to: z.string() }),
    result: z.object({ text: z.string() }),
    execute: ({ to }) => ({ text: \`Hello, \${to}!\` }),
  });

  poly.on('pane:exited', ({ payload }, { logger }) => {
    logger.info('a pane has ended', { paneId: payload.paneId, exitCode: payload.exitCode });
  });
};
`,
});

function typesOfThisMachine(): object {
  const hub = hubPackage();
  const types = join(hub, 'dist', 'extensions', 'api.d.ts');
  const zod = dirname(createRequire(join(hub, 'package.json')).resolve('zod/package.json'));
  return {
    compilerOptions: {
      paths: { 'poly/types': [types], 'polyphony/types': [types], zod: [zod], 'zod/*': [join(zod, '*')] },
    },
  };
}

/** The folder this package lies in, wherever in it this code has been bundled to. */
function hubPackage(): string {
  for (let folder = import.meta.dirname; folder !== dirname(folder); folder = dirname(folder)) {
    const file = join(folder, 'package.json');
    if (existsSync(file) && JSON.parse(readFileSync(file, 'utf8')).name === 'polyphony') return folder;
  }
  throw new PolyError('unavailable', `the package polyphony was not found above ${import.meta.dirname}.`);
}

const json = (value: object): string => `${JSON.stringify(value, null, 2)}\n`;
