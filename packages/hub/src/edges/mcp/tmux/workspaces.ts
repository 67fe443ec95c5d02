import { stat } from 'node:fs/promises';
import { homedir } from 'node:os';
import { resolve } from 'node:path';
import { environmentToPass, PolyError } from '@polyphony/protocol';
import type { PaneRow } from '@polyphony/tmux';
import type * as Workspaces from '@polyphony/tmux/workspace';
import type { WorkspaceEvent, WorkspacePlan, WorkspaceSession } from '@polyphony/tmux/workspace';
import * as z from 'zod';
import type { ToolAnswer } from '../tool.ts';
import { sparedEngine } from './guarded-engine.ts';
import { hostStepOf } from './host-step.ts';
import { furthest, type Reach } from './operation-effect.ts';
import { raisedByFormat, raisedByOption, raisedByStart } from './raised.ts';
import { ends, spareCaller } from './spare-caller.ts';
import type { Use } from './use.ts';
import { inOurWords, requireSafety, type Verb, verb } from './verb.ts';

/** Whole sessions, as tmuxp declares them. */
export const workspaces: Readonly<Record<string, Verb>> = {
  build_workspace: verb({
    description:
      'Builds the sessions a tmuxp workspace declares, all or nothing. on_exists (error, replace, reuse) says what becomes of one of that name. Hundreds of windows take longer than many clients wait: give them in several sessions, by several calls.',
    effect: 'write',
    waits: true,
    params: {
      spec: z
        .union([z.looseObject({}), z.string().min(1)])
        .describe('{ session_name, windows: [{ window_name, panes: ["command"] }] }, its YAML, or a file'),
      preflight: z
        .boolean()
        .default(true)
        .describe('false: on_exists is not heeded, one of that name is an error'),
      version: z.string().optional().describe('Refuse another tmux than this, as 3.4'),
    },
    run: (given, use) => buildWorkspace(given, use),
  }),
};

interface Given {
  readonly spec: object | string;
  readonly preflight: boolean;
  readonly version?: string | undefined;
}

async function buildWorkspace({ spec, preflight, version }: Given, use: Use): Promise<ToolAnswer> {
  const { context, seat } = use;
  const library = await import('@polyphony/tmux/workspace');
  const cwd = context.place.cwd ?? homedir();
  const options = {
    ...{ cwd, signal: context.signal, env: context.place.env ?? environmentToPass(process.env) },
    // What a text or a value says is meant where its author is; what a file says, where it is.
    ...(isFile(spec) ? {} : { directory: cwd }),
    ...(!preflight && { onExists: 'error' as const }),
  };
  if (isFile(spec)) await requirePlainFile(resolve(cwd, String(spec)));
  const source = isText(spec) ? readText(library, spec) : spec;
  const plan = await library.planWorkspace(seat.engine, source, options);
  if (version !== undefined && version !== plan.version.text)
    throw new use.tmux.TmuxError(
      'version_unsupported',
      `The workspace is for tmux ${version}; this server is ${plan.version.text}.`,
    );
  requireSafety('build_workspace', furthest(reachesOf(plan)), context);
  await spareFromReplacing(plan, use);
  try {
    const {
      sessions,
      warnings,
      differences = [],
    } = await library.loadWorkspace(sparedEngine(use, 'build_workspace', 'answered'), source, {
      ...options,
      confirm: true,
      host: hostStepOf(use, 'build_workspace'),
      onEvent: (event) => context.progress(eventText(event)),
    });
    const lines = sessions.map(
      ({ name, id, action, windows }) =>
        `${id} ${name}: ${done[action]}, ${windows.length} windows, panes ${windows.flatMap(({ panes }) => panes).join(' ')}`,
    );
    const notes = [
      ...warnings.map(({ message }) => message),
      ...differences.map(
        ({ path, declared, found }) =>
          `${path} is ${JSON.stringify(found)}, not ${JSON.stringify(declared)}.`,
      ),
    ];
    return {
      text: [...lines, ...notes].join('\n'),
      structured: { ok: true, sessions, warnings, differences },
    };
  } catch (error) {
    if (!(error instanceof use.tmux.TmuxError)) throw error;
    const { code, message, hint } = inOurWords(error).info;
    const { session = null, window = null } = error.details;
    return {
      text: [`${code}: ${message}`, hint, 'What was made before it was taken away again.']
        .filter(Boolean)
        .join(' '),
      structured: { ok: false, error: { code, message, session, window } },
      isError: true,
    };
  }
}

const done = { create: 'built', replace: 'built anew', reuse: 'left as it is' } as const;

const isText = (spec: object | string): spec is string => typeof spec === 'string' && /[\n:{]/.test(spec);
const isFile = (spec: object | string): boolean => typeof spec === 'string' && !isText(spec);

/** A pipe or a device could be read for ever; what is not there, or a folder, is told of by whoever reads it. */
async function requirePlainFile(path: string): Promise<void> {
  const found = await stat(path).catch(() => undefined);
  if (found && !found.isFile() && !found.isDirectory())
    throw new PolyError('invalid_arguments', `spec: ${path} is no file that could hold a workspace.`, {
      hint: 'Give a file of YAML or JSON, its text, or the value itself.',
    });
  if (found && found.size > largestFile)
    throw new PolyError(
      'too_large',
      `spec: ${path} has ${found.size} bytes; a workspace has at most ${largestFile}.`,
    );
}

const largestFile = 1024 * 1024;

function readText({ parseWorkspace }: typeof Workspaces, text: string): object {
  return { sessions: parseWorkspace(text, 'spec').sessions.map(({ value }) => value) };
}

/** Refuses to end the session of the caller before anything was made. */
async function spareFromReplacing({ sessions }: WorkspacePlan, { look, caller }: Use): Promise<void> {
  const replaced = sessions.flatMap((one) =>
    one.action === 'replace' && one.replaced ? [one.replaced] : [],
  );
  if (replaced.length === 0) return;
  const seen = await look();
  for (const sessionId of replaced)
    spareCaller(caller, seen, ends.session({ sessionId } as PaneRow, false, seen.panes), 'build_workspace');
}

/** How far a workspace goes; the commands of its panes are only typed. */
function reachesOf({ sessions }: WorkspacePlan): readonly Reach[] {
  return sessions
    .filter(({ action }) => action !== 'reuse')
    .flatMap(({ session, action }) => [
      { effect: 'write' as const },
      ...(action === 'replace' ? [`it ends the session ${session.name}`] : []).map(destructive),
      ...reasonsOf(session).flatMap((why) => (why === undefined ? [] : [destructive(why)])),
    ]);
}

const destructive = (why: string): Reach => ({ effect: 'destructive', why });

function reasonsOf(session: WorkspaceSession): readonly (string | undefined)[] {
  const { beforeScript, environment, options, globalOptions, windows } = session;
  return [
    beforeScript && 'before_script runs a command of a shell',
    raisedByStart({ environment }),
    ...[options, globalOptions, ...windows.flatMap((window) => [window.options, window.optionsAfter])]
      .flatMap((table) => Object.entries(table))
      .map(([option, value]) => raisedByOption(option, value)),
    ...windows.flatMap(({ panes, floats }) => [...panes, ...floats]).map(raisedByStart),
    ...windows
      .flatMap(({ floats }) => floats.flatMap(({ shape }) => Object.values(shape)))
      .map((value) => (typeof value === 'string' ? raisedByFormat(value) : undefined)),
  ];
}

function eventText(event: WorkspaceEvent): string {
  if (event.type === 'built') return 'all is built';
  return event.type === 'sessionCreated' ? `session ${event.session}` : `${event.session}: ${event.type}`;
}
