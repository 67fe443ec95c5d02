import { type Command, command } from '../command.ts';
import { choice, text, toggle } from '../flag.ts';

const socketFlags = {
  'socket-name': text("Name of the tmux server's socket, as tmux takes it.", { value: 'NAME', short: 'L' }),
  'socket-path': text("Path of the tmux server's socket.", { value: 'PATH', short: 'S' }),
};
const onExists = choice('What to do with a session of the same name; error when left out.', [
  'error',
  'reuse',
  'replace',
]);
const output = {
  output: text('Write there instead of printing it.', { value: 'FILE' }),
  force: toggle('Replace that file if it is there.'),
};
const more = () => import('../workspace-commands.ts');

/** Workspaces live on the user's own tmux server and need no hub. */
export const workspaceCommands: readonly Command[] = [
  command({
    name: 'workspace load',
    summary:
      'Builds the tmux sessions that a file declares (in the format of tmuxp), on your own tmux server.',
    args: ['<file>'],
    flags: { 'on-exists': onExists, ...socketFlags },
    completes: 'file',
    examples: ['poly workspace load dev.yaml', 'poly workspace load dev.yaml --on-exists replace'],
    run: async (call) => (await more()).load(call),
  }),
  command({
    name: 'workspace plan',
    summary: 'Shows every tmux command that loading a workspace file would send, and sends none.',
    args: ['<file>'],
    flags: { 'on-exists': onExists, ...socketFlags },
    completes: 'file',
    examples: ['poly workspace plan dev.yaml'],
    run: async (call) => (await more()).plan(call),
  }),
  command({
    name: 'workspace freeze',
    summary: 'Writes live tmux sessions as a workspace file, which load can build again.',
    args: ['[session…]'],
    flags: { ...output, ...socketFlags },
    examples: ['poly workspace freeze', 'poly workspace freeze dev --output dev.yaml'],
    run: async (call) => (await more()).freeze(call),
  }),
  command({
    name: 'workspace import',
    summary: 'Turns a file of tmuxinator or teamocil into a workspace file.',
    args: ['<file>'],
    flags: {
      from: choice('Whose file it is; told by its path and its windows when left out.', [
        'tmuxinator',
        'teamocil',
      ]),
      ...output,
    },
    completes: 'file',
    examples: ['poly workspace import ~/.tmuxinator/web.yml --output web.yaml'],
    run: async (call) => (await more()).importFile(call),
  }),
];
