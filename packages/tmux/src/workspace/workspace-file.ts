import type { OnExists, Size, Variables } from './workspace.ts';

type Given<T> = T | null | undefined;

/** A session as a file declares it: every value in its plain type, nothing filled in yet. */
export interface SessionFile {
  readonly session_name: string;
  readonly start_directory?: Given<string>;
  readonly dimensions?: Given<Size>;
  readonly environment?: Given<Variables>;
  readonly options?: Given<Variables>;
  readonly global_options?: Given<Variables>;
  readonly before_script?: Given<string>;
  readonly shell_command_before?: CommandsFile | undefined;
  readonly suppress_history?: Given<boolean>;
  readonly on_exists?: Given<OnExists>;
  readonly wait_pane?: Given<boolean>;
  readonly workspace_builder_options?: Given<{
    readonly pane_readiness?: Given<'auto' | 'always' | 'never'>;
  }>;
  readonly windows: readonly WindowFile[];
}

export interface WindowFile {
  readonly window_name?: Given<string>;
  readonly window_index?: Given<number>;
  readonly layout?: Given<string>;
  readonly start_directory?: Given<string>;
  readonly focus?: Given<boolean>;
  readonly options?: Given<Variables>;
  readonly options_after?: Given<Variables>;
  readonly environment?: Given<Variables>;
  readonly window_shell?: Given<string>;
  readonly suppress_history?: Given<boolean>;
  readonly shell_command_before?: CommandsFile | undefined;
  readonly shell_command_after?: CommandsFile | undefined;
  readonly clear?: Given<boolean>;
  readonly panes?: Given<readonly PaneFile[]>;
  readonly floats?: Given<readonly FloatFile[]>;
}

export type PaneFile = PaneKeys | CommandList;

export interface PaneKeys {
  readonly shell_command?: CommandList | undefined;
  readonly cmd?: CommandList | undefined;
  readonly shell_command_before?: CommandsFile | undefined;
  readonly focus?: Given<boolean>;
  readonly start_directory?: Given<string>;
  readonly shell?: Given<string>;
  readonly environment?: Given<Variables>;
  readonly enter?: Given<boolean>;
  readonly sleep_before?: Given<number>;
  readonly sleep_after?: Given<number>;
  readonly suppress_history?: Given<boolean>;
}

export interface FloatFile extends PaneKeys {
  readonly attach_to?: Given<string>;
  readonly width?: Given<number | `${number}%`>;
  readonly height?: Given<number | `${number}%`>;
  readonly x?: Given<number>;
  readonly y?: Given<number>;
  readonly zoom?: Given<boolean>;
  readonly empty?: Given<boolean>;
  readonly style?: Given<string>;
  readonly active_border_style?: Given<string>;
  readonly inactive_border_style?: Given<string>;
  readonly message?: Given<string>;
}

/** Commands around those of a pane: also as a mapping. */
export type CommandsFile =
  | (Partial<CommandFile> & { readonly shell_command?: CommandList | undefined })
  | CommandList;

export type CommandList = null | string | readonly (null | string | CommandFile)[];

export interface CommandFile {
  readonly cmd: string;
  readonly enter?: Given<boolean>;
  readonly sleep_before?: Given<number>;
  readonly sleep_after?: Given<number>;
}
