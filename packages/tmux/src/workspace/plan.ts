import { type Engine, execute } from '../engine.ts';
import { TmuxError } from '../errors.ts';
import { requireEngine } from '../operation/given.ts';
import type { SessionId } from '../operation/target.ts';
import type { TmuxVersion } from '../operation/version.ts';
import { killSession } from '../operations/kill-session.ts';
import { listSessions } from '../operations/list-sessions.ts';
import { Plan } from '../plan/plan.ts';
import { type CompiledWorkspace, compileWorkspace } from './compile.ts';
import type { Surroundings } from './expand.ts';
import { isDirectory, isFile, readWorkspace, type WorkspaceSource } from './read-file.ts';
import type { OnExists, Size, Workspace, WorkspaceWarning } from './workspace.ts';

export interface PlanOptions extends Surroundings {
  /** What to do with a session of the same name; default what the file says, else `error`. */
  readonly onExists?: OnExists;
  /** For sessions whose file names no dimensions; default tmux's own. */
  readonly size?: Size;
  readonly signal?: AbortSignal;
}

/** What loading a workspace would do now. */
export interface WorkspacePlan extends CompiledWorkspace {
  readonly workspace: Workspace;
  readonly version: TmuxVersion;
  /** Every command, in order and in full; ids that do not exist yet stand as `{slot 0 self}`. */
  readonly text: string;
}

const onExistsChoices: readonly OnExists[] = ['error', 'replace', 'reuse'];

/**
 * The dry run of `loadWorkspace`: looks at the server, changes nothing.
 *
 * @example console.log((await planWorkspace(engine, 'dev.yaml')).text)
 */
export async function planWorkspace(
  engine: Engine,
  source: WorkspaceSource,
  options: PlanOptions = {},
): Promise<WorkspacePlan> {
  const { onExists } = options;
  if (onExists !== undefined && !onExistsChoices.includes(onExists)) {
    const message = `onExists is ${onExistsChoices.join(', ')}, not ${JSON.stringify(onExists)}.`;
    throw new TmuxError('invalid_parameters', message, { onExists });
  }
  const { workspace, warnings } = await readWorkspace(source, options);
  await refuseMissingScripts(workspace);
  requireEngine(engine);
  const version = await engine.version();
  const existing = await sessionsByName(engine, options.signal);
  const compiled = compileWorkspace(workspace, { ...options, version, existing });
  const end = new Plan();
  for (const target of replacedBy(compiled)) end.add(killSession({ target }));
  const lines = [compiled.plan, end]
    .flatMap((plan) => plan.preview(version))
    .map((line) => (line.type === 'host' ? line.text : `tmux ${line.text}`));
  return {
    ...compiled,
    workspace,
    version,
    text: lines.map((line) => `${line}\n`).join(''),
    warnings: [...warnings, ...compiled.warnings, ...(await missingDirectories(workspace))],
  };
}

/** The sessions to kill once everything is built. */
export function replacedBy({ sessions }: CompiledWorkspace): readonly SessionId[] {
  return sessions.flatMap((compiled) =>
    compiled.action === 'reuse' || compiled.replaced === undefined ? [] : [compiled.replaced],
  );
}

/** Names as they are, never by their beginning. */
async function sessionsByName(engine: Engine, signal?: AbortSignal): Promise<ReadonlyMap<string, SessionId>> {
  try {
    const rows = (await execute(engine, listSessions(), signal && { signal })).unwrap();
    return new Map(rows.map(({ sessionName, sessionId }) => [sessionName, sessionId]));
  } catch (error) {
    if (error instanceof TmuxError && error.code === 'no_server') return new Map();
    throw error;
  }
}

async function refuseMissingScripts(workspace: Workspace): Promise<void> {
  for (const { name, beforeScript } of workspace.sessions) {
    const file = beforeScript?.file;
    if (file === undefined || (await isFile(file))) continue;
    const message = `before_script of session ${JSON.stringify(name)} does not exist: ${file}.`;
    throw new TmuxError('invalid_workspace', message, { session: name, file });
  }
}

/** tmux starts a process elsewhere when its folder does not exist. A script may still make it. */
async function missingDirectories(workspace: Workspace): Promise<readonly WorkspaceWarning[]> {
  const places = workspace.sessions.flatMap(({ beforeScript, windows }) =>
    beforeScript
      ? []
      : windows.flatMap((window, i) =>
          window.panes.map(
            (pane, j) => [pane.startDirectory, `windows[${i}].panes[${j}].start_directory`] as const,
          ),
        ),
  );
  const first = new Map(places.toReversed());
  const missing = await Promise.all(
    [...first.keys()].map(async (folder) => ((await isDirectory(folder)) ? [] : [folder])),
  );
  return missing.flat().map((folder) => {
    const path = first.get(folder) ?? '';
    return {
      code: 'missing_directory',
      path,
      message: `${path}: ${folder} is no folder; tmux will start elsewhere.`,
    };
  });
}
