import { PolyError } from '@polyphony/protocol';
import { type Command, command } from '../command.ts';

export const sessionCommands: readonly Command[] = [
  command({
    name: 'session start',
    summary: 'Starts the tmux session that holds tmux panes.',
    examples: ['poly session start'],
    async run({ hub, out, json }) {
      const session = await hub.call('session:start', {});
      if (json) return out.json(session);
      out.line(`The tmux session "${session.name}" is up. See it with: poly session attach`);
    },
  }),
  command({
    name: 'session stop',
    summary: 'Ends the tmux session and every pane in it.',
    examples: ['poly session stop'],
    async run({ hub, out, json }) {
      const result = await hub.call('session:stop', {});
      if (json) return out.json(result);
      out.line('The tmux session and every pane in it have ended.');
    },
  }),
  command({
    name: 'session attach',
    summary: 'Shows the tmux session; Ctrl-b d leaves it.',
    examples: ['poly session attach'],
    async run({ hub, env, out }) {
      const session = await hub.call('session:status', {});
      if (session.trouble) throw new PolyError('unavailable', session.trouble, { hint: 'See: poly doctor' });
      if (!session.running)
        throw new PolyError('not_found', 'the tmux session is not up.', {
          hint: 'Start it with: poly session start',
        });
      return (await import('../attach/tmux-client.ts')).attachTmux(session, env, out);
    },
  }),
];
