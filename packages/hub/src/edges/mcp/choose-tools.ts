import { PolyError } from '@polyphony/protocol';
import { type McpTool, type Safety, safeties, safetyOf, type Toolset, toolsets } from './tool.ts';

export interface Choice {
  readonly toolsets: ReadonlySet<Toolset>;
  readonly safety: Safety;
}

const defaultToolsets: readonly Toolset[] = ['panes', 'mail'];

/** What a client has asked for in its address: `?toolsets=panes,actions&safety=readonly`. */
export function choiceOf(query: URLSearchParams): Choice {
  const names = query.get('toolsets')?.split(',').filter(Boolean) ?? defaultToolsets;
  const safety = query.get('safety') ?? 'mutating';
  for (const name of names) requireOneOf('toolset', name, toolsets);
  requireOneOf('safety', safety, safeties);
  return { toolsets: new Set(names as readonly Toolset[]), safety: safety as Safety };
}

function requireOneOf(what: string, given: string, allowed: readonly string[]): void {
  if (allowed.includes(given)) return;
  const message = `there is no ${what} "${given.slice(0, 40)}"; there are ${allowed.join(', ')}.`;
  throw new PolyError('invalid_arguments', message);
}

/** The tools a client gets; what it may not use it does not see. */
export function chooseTools(all: readonly McpTool[], choice: Choice): ReadonlyMap<string, McpTool> {
  const rank = safeties.indexOf(choice.safety);
  const chosen = all.filter(
    ({ toolset, effect }) => choice.toolsets.has(toolset) && safeties.indexOf(safetyOf[effect]) <= rank,
  );
  return new Map(chosen.map((tool) => [tool.name, tool]));
}
