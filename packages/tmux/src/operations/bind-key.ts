import { keyTable } from '../operation/key-table.ts';
import { type Builder, defineOperation } from '../operation/operation.ts';
import { type Ack, ack } from '../operation/outcome.ts';
import { argument, flag, nameArgument, required, text } from '../operation/param.ts';

export interface BindKey {
  readonly key: string;
  readonly command?: string;
  readonly table?: string;
  readonly note?: string;
  readonly repeat?: boolean;
}

export const bindKey: Builder<BindKey, Ack> = defineOperation<BindKey, Ack>({
  kind: 'bind_key',
  scope: 'server',
  effect: 'write',
  summary: 'Binds a key to tmux commands, or gives a binding a note.',
  params: {
    table: keyTable('the key table: root for keys without the prefix; prefix unless told'),
    note: text('-N', 'what the binding is for'),
    repeat: flag('-r', 'may be pressed again without the prefix'),
    key: required(nameArgument('the key: x, C-x, M-Up, F5')),
    command: argument('tmux commands, in tmux’s own language'),
  },
  refuse: ({ command, note }) =>
    command === undefined && note === undefined ? 'give a command or a note' : undefined,
  result: ack,
  example: { key: 'F5', table: 'root', command: 'select-window -t =demo:=logs', note: 'Show the logs' },
});
