import { type Command, command } from '../command.ts';
import { choice, toggle } from '../flag.ts';
import { scopes } from '../install/scopes.ts';

const where = {
  scope: choice('Your own skills, or those of the folder you are in; user when left out.', scopes),
  'dry-run': toggle('Write nothing; show what would be changed, as a diff.'),
  force: toggle('Also where the skill of that name is not as poly writes it.'),
};

export const skillCommands: readonly Command[] = [
  command({
    name: 'skill',
    summary: 'Prints the skill that teaches an agent when to use which tool.',
    examples: ['poly skill', 'poly skill >> AGENTS.md'],
    run: async (call) => (await import('../install/skill.ts')).printSkill(call),
  }),
  command({
    name: 'skill print',
    summary: 'Prints the skill, as poly skill alone does.',
    examples: ['poly skill print'],
    run: async (call) => (await import('../install/skill.ts')).printSkill(call),
  }),
  command({
    name: 'skill install',
    summary: 'Installs the skill for Claude Code and Codex: those named, or those that are found here.',
    args: ['[client…]'],
    completes: 'client',
    flags: where,
    examples: ['poly skill install', 'poly skill install claude --scope project'],
    run: async (call) => (await import('../install/skill.ts')).installSkill(call),
  }),
  command({
    name: 'skill uninstall',
    summary: 'Takes the skill away again.',
    args: ['[client…]'],
    completes: 'client',
    flags: where,
    examples: ['poly skill uninstall'],
    run: async (call) => (await import('../install/skill.ts')).uninstallSkill(call),
  }),
];
