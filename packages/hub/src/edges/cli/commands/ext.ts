import { PolyError } from '@polyphony/protocol';
import { type Command, command } from '../command.ts';
import { shown } from '../output.ts';
import { shellWord } from '../shell-word.ts';

export const extensionCommands: readonly Command[] = [
  command({
    name: 'ext install',
    summary: 'Installs an extension from a git address or a folder; it runs with your rights.',
    args: ['<git-url|path>'],
    completes: 'file',
    examples: [
      'poly ext install ./my-extension',
      'poly ext install https://example.com/someone/poly-logger.git',
    ],
    async run({ args: [given = ''], hub, out, json }) {
      const { existsSync } = await import('node:fs');
      const { resolve } = await import('node:path');
      if (!existsSync(given) && !given.includes(':'))
        throw new PolyError('not_found', `there is no folder ${given}.`, {
          hint: 'Say a folder, or an address: https://…, ssh://…, git@host:path or file:///…',
        });
      // The hub lives in another folder: what lies here is told in full.
      const from = existsSync(given) ? resolve(given) : given;
      const made = await hub.call('extensions:install', { from });
      if (json) return out.json(made);
      if (made.status === 'broken')
        throw new PolyError(
          'action_failed',
          `${made.name} is installed and could not be loaded: ${made.error}`,
          {
            hint: `Mend it in ${made.directory}, or remove it: poly ext remove ${made.name}`,
          },
        );
      out.line(`${made.name} is loaded${made.actions.length > 0 ? `: ${made.actions.join(', ')}` : ''}`);
    },
  }),
  command({
    name: 'ext list',
    summary: 'Lists the extensions and how loading them went.',
    examples: ['poly ext list', 'poly ext list --json'],
    async run({ hub, out, json }) {
      const extensions = await hub.call('extensions:list', {});
      if (json) return out.json(extensions);
      if (extensions.length === 0)
        return out.note('No extensions. Begin one with: poly ext init my-extension');
      out.table(
        extensions.map(({ name, status, version = '', actions, error = '' }) => [
          out.paint('cyan', name),
          status === 'loaded' ? out.paint('green', '● loaded') : out.paint('red', '✕ broken'),
          version,
          shown(status === 'loaded' ? actions.join(', ') : error, 200),
        ]),
      );
    },
  }),
  command({
    name: 'ext remove',
    summary: 'Unloads an extension and deletes its folder.',
    args: ['<name>'],
    examples: ['poly ext remove my-extension'],
    async run({ args: [name = ''], hub, out, json }) {
      const result = await hub.call('extensions:remove', { name });
      if (json) out.json(result);
      else out.line(`${name} is gone.`);
    },
  }),
  command({
    name: 'ext init',
    summary: 'Writes an extension to begin with into a folder.',
    args: ['<dir>'],
    completes: 'file',
    examples: ['poly ext init my-extension && poly ext install my-extension'],
    async run({ args: [directory = ''], offline, out, json }) {
      const files = await offline.initExtension(directory);
      if (json) return out.json({ directory, files });
      for (const file of files) out.line(`wrote ${directory}/${file}`);
      out.line(`Install it with: poly ext install ${shellWord(directory)}`);
    },
  }),
];
