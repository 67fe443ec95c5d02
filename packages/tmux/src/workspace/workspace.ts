/** A workspace with nothing left to work out: every path absolute, every inherited value in its place. */
export interface Workspace {
  readonly sessions: readonly WorkspaceSession[];
}

export type OnExists = 'error' | 'replace' | 'reuse';

export interface Size {
  readonly width: number;
  readonly height: number;
}

export type Variables = Readonly<Record<string, string>>;

export interface WorkspaceSession {
  readonly name: string;
  readonly startDirectory: string;
  readonly size?: Size;
  readonly environment: Variables;
  readonly options: Variables;
  readonly globalOptions: Variables;
  readonly beforeScript?: BeforeScript;
  readonly onExists: OnExists;
  /** Whether a pane's shell must have drawn its prompt before anything is typed into it. */
  readonly waitPane: boolean;
  readonly windows: readonly WorkspaceWindow[];
}

export interface BeforeScript {
  /** A line for the shell. */
  readonly command: string;
  readonly cwd: string;
  /** The file the line starts with, when it names one by its path. */
  readonly file?: string;
}

export interface WorkspaceWindow {
  readonly name?: string;
  readonly index?: number;
  readonly layout?: string;
  readonly focus: boolean;
  readonly options: Variables;
  readonly optionsAfter: Variables;
  readonly panes: readonly WorkspacePane[];
  readonly floats: readonly WorkspaceFloat[];
}

export interface WorkspacePane {
  readonly startDirectory: string;
  readonly environment: Variables;
  /** The program of the pane; the user's shell unless told. */
  readonly shell?: string;
  readonly focus: boolean;
  /** Types a space before each command: shells keep such lines out of their history. */
  readonly suppressHistory: boolean;
  readonly sleepBeforeMs: number;
  readonly sleepAfterMs: number;
  readonly commands: readonly WorkspaceCommand[];
}

export interface WorkspaceCommand {
  readonly text: string;
  readonly enter: boolean;
  readonly sleepBeforeMs: number;
  readonly sleepAfterMs: number;
}

/** A pane that floats over a window; tmux has them since 3.7. */
export interface WorkspaceFloat extends WorkspacePane {
  /** The name of the window it floats over, when that is not its own. */
  readonly attachTo?: string;
  readonly shape: FloatShape;
}

export interface FloatShape {
  readonly width?: number | `${number}%`;
  readonly height?: number | `${number}%`;
  readonly x?: number;
  readonly y?: number;
  readonly zoom?: boolean;
  readonly empty?: boolean;
  readonly style?: string;
  readonly activeBorderStyle?: string;
  readonly inactiveBorderStyle?: string;
  readonly message?: string;
}

/** Something of the file that was not done, or not done as written. */
export interface WorkspaceWarning {
  readonly code: 'unknown_key' | 'unsupported_key' | 'changed_value' | 'missing_directory';
  /** Where in the file: `windows[0].panes[1].shel`. */
  readonly path: string;
  readonly message: string;
  readonly line?: number;
  readonly column?: number;
}
