import { type Builder, defineOperation } from '../operation/operation.ts';
import { type Lines, lines } from '../operation/outcome.ts';
import { client, flag, optional } from '../operation/param.ts';
import type { ClientTarget } from '../operation/target.ts';

export interface ShowMessages {
  readonly target?: ClientTarget;
  readonly jobs?: boolean;
  readonly terminals?: boolean;
}

export const showMessages: Builder<ShowMessages, Lines> = defineOperation<ShowMessages, Lines>({
  kind: 'show_messages',
  scope: 'client',
  effect: 'read',
  summary: 'Reads the server’s log of messages and commands, the newest first.',
  params: {
    target: optional(client('any client; needed before tmux 3.6 where no client is attached')),
    jobs: flag('-J', 'the shell commands that run for formats and run_shell instead'),
    terminals: flag('-T', 'what is known of the terminals instead'),
  },
  result: lines,
  example: { target: { client: '/dev/pts/0' } },
});
