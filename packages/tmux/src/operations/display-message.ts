import { type Builder, defineOperation } from '../operation/operation.ts';
import { line, type Text } from '../operation/outcome.ts';
import { anyTarget, argument, flag, optional, required } from '../operation/param.ts';
import type { AnyTarget } from '../operation/target.ts';

export interface DisplayMessage {
  readonly message: string;
  readonly target?: AnyTarget;
  readonly literal?: boolean;
}

export const displayMessage: Builder<DisplayMessage, Text> = defineOperation<DisplayMessage, Text>({
  kind: 'display_message',
  scope: 'pane',
  effect: 'read',
  summary: 'Expands a format and returns the text.',
  params: {
    // A target tmux cannot find is no failure here: it answers for another pane, or with nothing.
    target: optional(anyTarget('what the format is about')),
    literal: flag('-l', 'return the message as it is', { since: '3.4' }),
    message: required(
      argument('a format; tmux also replaces the %-sequences of strftime, and runs what is in #(…)'),
    ),
  },
  fixed: ['-p'],
  result: line,
  example: { target: { session: 'demo', window: 0, pane: 0 }, message: '#{pane_id} #{pane_current_command}' },
});
