import { PolyError } from '@polyphony/protocol';
import {
  type Choice,
  type McpTool,
  type Safety,
  safeties,
  safetyOf,
  type TmuxChoice,
  type Toolset,
  toolsets,
} from './tool.ts';

const defaultToolsets: readonly Toolset[] = ['panes', 'mail'];

/** What a client has asked for in its address: `?toolsets=panes,actions&safety=readonly`. */
export function choiceOf(query: URLSearchParams): Choice {
  const names = query.get('toolsets')?.split(',').filter(Boolean) ?? defaultToolsets;
  const safety = query.get('safety') ?? 'mutating';
  for (const name of names) requireOneOf('toolset', name, toolsets);
  requireOneOf('safety', safety, safeties);
  const isOn = (name: string): boolean => {
    const value = query.get(name) ?? 'false';
    requireOneOf(`value of ${name}`, value, ['true', 'false']);
    return value === 'true';
  };
  return {
    toolsets: new Set([
      ...(names as readonly Toolset[]),
      ...(isOn('operations') ? (['operations'] as const) : []),
    ]),
    channel: isOn('channel'),
    safety: safety as Safety,
    tmux: tmuxChoiceOf(query),
  };
}

function tmuxChoiceOf(query: URLSearchParams): TmuxChoice {
  const socketPath = query.get('socket-path') ?? undefined;
  const socketName = query.get('socket-name') ?? undefined;
  const refuse = (message: string): never => {
    throw new PolyError('invalid_arguments', message);
  };
  if (socketPath !== undefined && socketName !== undefined)
    refuse('socket-path and socket-name exclude each other: a tmux server has one socket.');
  if (socketPath !== undefined && !socketPath.startsWith('/'))
    refuse(`socket-path must be an absolute path, not "${socketPath.slice(0, 80)}".`);
  if (socketName !== undefined && !/^[^/\0]+$/.test(socketName))
    refuse(`socket-name must be a name as tmux -L takes it, not "${socketName.slice(0, 80)}".`);
  return {
    ...(socketPath !== undefined && { socketPath }),
    ...(socketName !== undefined && { socketName }),
    callerSocket: query.get('caller-socket') !== 'false',
  };
}

function requireOneOf(what: string, given: string, allowed: readonly string[]): void {
  if (allowed.includes(given)) return;
  const message = `there is no ${what} "${given.slice(0, 40)}"; there are ${allowed.join(', ')}.`;
  throw new PolyError('invalid_arguments', message);
}

/** The tools a client gets; what it may not use it does not see. */
export function chooseTools(
  all: readonly McpTool[],
  choice: Choice,
  forUser: boolean,
): ReadonlyMap<string, McpTool> {
  const rank = safeties.indexOf(choice.safety);
  const chosen = all.filter(
    ({ toolset, effect, needsUser, looksWhenReadonly }) =>
      choice.toolsets.has(toolset) &&
      (looksWhenReadonly || safeties.indexOf(safetyOf[effect]) <= rank) &&
      (forUser || !needsUser),
  );
  return new Map(chosen.map((tool) => [tool.name, tool]));
}
