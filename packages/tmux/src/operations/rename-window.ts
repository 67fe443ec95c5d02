import { type Builder, defineOperation } from '../operation/operation.ts';
import { type Ack, ack } from '../operation/outcome.ts';
import { nameArgument, required, target } from '../operation/param.ts';
import type { Target } from '../operation/target.ts';

export interface RenameWindow {
  readonly target: Target;
  readonly name: string;
}

export const renameWindow: Builder<RenameWindow, Ack> = defineOperation<RenameWindow, Ack>({
  kind: 'rename_window',
  scope: 'window',
  effect: 'write',
  summary: 'Gives a window a name, which then stays as it is.',
  params: {
    target: target('the window'),
    name: required(nameArgument('its new name; tmux writes a backslash in it as two', { expanded: true })),
  },
  result: ack,
  example: { target: { session: 'demo', window: 1 }, name: 'output' },
});
