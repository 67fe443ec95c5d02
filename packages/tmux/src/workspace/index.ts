/**
 * Workspaces: tmux sessions declared in a file, in the format of tmuxp. Every key of that format does what it says or is
 * reported. Where tmuxp's own builder surprises, this one does not follow:
 *
 * - `enter`, `sleep_before` and `sleep_after` of a command hold for that command, not for those after it. Those of a
 *   pane: `enter` for its own commands, the sleeps once, before the first and after the last command.
 * - Commands are typed as text, whatever keys they may be named like.
 * - Window options among the `options` of a session are set for each of its windows.
 * - Every `before_script` runs before anything is made or replaced.
 */
export {
  type CompiledSession,
  type CompiledWorkspace,
  type CompileOptions,
  compileWorkspace,
} from './compile.ts';
export type { CompiledWindow } from './compile-window.ts';
export { confirmWorkspace, type Difference } from './confirm.ts';
export type { LoadedSession, LoadedWindow, WorkspaceEvent } from './events.ts';
export { type ExpandedWorkspace, expandWorkspace, type Surroundings } from './expand.ts';
export { type FrozenWorkspace, freezeWorkspace } from './freeze.ts';
export type { ImportedWorkspace, ImportOptions } from './import/foreign.ts';
export { importTeamocil } from './import/teamocil.ts';
export { importTmuxinator } from './import/tmuxinator.ts';
export { type LoadedWorkspace, type LoadOptions, loadWorkspace } from './load.ts';
export { type ParsedWorkspace, parseWorkspace, parseWorkspaceValue, type RawSession } from './parse.ts';
export { type PlanOptions, planWorkspace, type WorkspacePlan } from './plan.ts';
export { readWorkspace, type WorkspaceSource } from './read-file.ts';
export type {
  BeforeScript,
  FloatShape,
  OnExists,
  Size,
  Variables,
  Workspace,
  WorkspaceCommand,
  WorkspaceFloat,
  WorkspacePane,
  WorkspaceSession,
  WorkspaceWarning,
  WorkspaceWindow,
} from './workspace.ts';
export { stringifyWorkspace } from './yaml-text.ts';
