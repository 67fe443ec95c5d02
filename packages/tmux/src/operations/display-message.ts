import { type Builder, defineOperation } from '../operation/operation.ts';
import { line, type Text } from '../operation/outcome.ts';
import { anyTarget, argument, client, flag, integer, optional, required } from '../operation/param.ts';
import type { AnyTarget, ClientTarget } from '../operation/target.ts';

export interface DisplayMessage {
  readonly message: string;
  readonly target?: AnyTarget;
  readonly literal?: boolean;
  readonly client?: ClientTarget;
  readonly durationMs?: number;
}

export const displayMessage: Builder<DisplayMessage, Text> = defineOperation<DisplayMessage, Text>({
  kind: 'display_message',
  scope: 'pane',
  effect: 'read',
  summary: 'Expands a format and returns the text, or shows it on the status line of a client.',
  params: {
    // A target tmux cannot find is no failure here: it answers for another pane, or with nothing.
    target: optional(anyTarget('what the format is about')),
    literal: flag('-l', 'return the message as it is', { since: '3.4' }),
    client: {
      ...optional(client('show it on the status line of this client, and return nothing', '-c')),
      absent: ['-p'],
    },
    durationMs: integer(
      '-d',
      'how long `client` shows it, 0 until a key is pressed; display-time unless told',
    ),
    message: required(
      argument('a format; tmux also replaces the %-sequences of strftime, and runs what is in #(…)'),
    ),
  },
  refuse: ({ client: shown, durationMs }) =>
    durationMs !== undefined && shown === undefined
      ? 'durationMs is for a message shown to a client'
      : undefined,
  result: line,
  example: { target: { session: 'demo', window: 0, pane: 0 }, message: '#{pane_id} #{pane_current_command}' },
});
