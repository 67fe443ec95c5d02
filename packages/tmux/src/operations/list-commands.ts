import { type Builder, defineOperation } from '../operation/operation.ts';
import { rows, textColumn } from '../operation/rows.ts';

export type ListCommands = Readonly<Record<string, never>>;

export interface CommandRow {
  readonly name: string;
  /** The short name; empty when there is none. */
  readonly alias: string;
  readonly usage: string;
}

const commandRows = rows<CommandRow>('CommandRows', {
  name: textColumn('#{command_list_name}'),
  alias: textColumn('#{command_list_alias}'),
  usage: textColumn('#{command_list_usage}'),
});

export const listCommands: Builder<ListCommands, readonly CommandRow[]> = defineOperation<
  ListCommands,
  readonly CommandRow[]
>({
  kind: 'list_commands',
  scope: 'server',
  effect: 'read',
  summary: 'Lists the commands this tmux knows.',
  params: {},
  result: commandRows,
  example: {},
});
