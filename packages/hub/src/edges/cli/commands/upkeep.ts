import { type Command, command } from '../command.ts';
import { toggle } from '../flag.ts';

export const upkeepCommands: readonly Command[] = [
  command({
    name: 'backup',
    summary: 'Writes a checked copy of the record while work goes on.',
    args: ['[file]'],
    flags: { force: toggle('Replace that file if it is there.') },
    completes: 'file',
    examples: ['poly backup', 'poly backup ~/poly-before-upgrade.db'],
    run: async (call) => (await import('../backup.ts')).backup(call),
  }),
  command({
    name: 'restore',
    summary: 'Puts a backup in the place of the record; the hub must be stopped.',
    startsHub: false,
    args: ['<file>'],
    completes: 'file',
    examples: ['poly server stop && poly restore ~/poly-before-upgrade.db && poly up'],
    run: async (call) => (await import('../restore.ts')).restore(call),
  }),
  command({
    name: 'doctor',
    summary: 'Looks at everything the hub needs, and says how to mend what is wrong.',
    startsHub: false,
    flags: { security: toggle('Look only at who could get in.') },
    examples: ['poly doctor', 'poly doctor --security', 'poly doctor --json'],
    run: async (call) => (await import('../doctor/doctor.ts')).doctor(call),
  }),
];
