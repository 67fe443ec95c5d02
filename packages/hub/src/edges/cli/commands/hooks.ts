import { type Command, command } from '../command.ts';
import { toggle } from '../flag.ts';

const where = {
  project: toggle('The files of the folder you are in instead of your own.'),
};

const carefully = {
  'dry-run': toggle('Write nothing; show what would be changed, as a diff.'),
  force: toggle('Also where a hook of poly was changed since.'),
};

export const hookCommands: readonly Command[] = [
  command({
    name: 'hooks install',
    summary:
      'Has coding agents tell what they do, and hear what is sent to them: those named, or all found here.',
    args: ['[client…]'],
    completes: 'hook client',
    flags: { ...where, ...carefully },
    examples: [
      'poly hooks install --dry-run',
      'poly hooks install claude codex',
      'poly hooks install gemini --project',
    ],
    run: async (call) => (await import('../install/hooks.ts')).installHooks(call),
  }),
  command({
    name: 'hooks uninstall',
    summary: 'Takes what hooks install has written back out of the files of coding agents, and nothing else.',
    args: ['[client…]'],
    completes: 'hook client',
    flags: { ...where, ...carefully },
    examples: ['poly hooks uninstall', 'poly hooks uninstall codex --dry-run'],
    run: async (call) => (await import('../install/hooks.ts')).uninstallHooks(call),
  }),
  command({
    name: 'hooks status',
    summary: 'Shows which coding agents tell the hub what they do, and whether that was changed.',
    args: ['[client…]'],
    completes: 'hook client',
    flags: where,
    examples: ['poly hooks status', 'poly hooks status claude --json'],
    run: async (call) => (await import('../install/hooks.ts')).hooksStatus(call),
  }),
];
