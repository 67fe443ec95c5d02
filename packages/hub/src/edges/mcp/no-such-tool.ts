import { nearest, PolyError } from '@polyphony/protocol';
import { type Caller, isUser } from '../../registry/caller.ts';
import { type Choice, type McpTool, safeties, safetyOf, type Toolset } from './tool.ts';

/** As many names as an agent need read to find the one it meant. */
const mostNames = 20;

export function noSuchTool(name: string, names: readonly string[]): PolyError {
  const near = nearest(name, names);
  const hint = [
    ...(near === undefined ? [] : [`Did you mean ${near}?`]),
    ...(near === undefined && names.length <= mostNames ? [`There are ${names.join(', ')}.`] : []),
    'The user chooses more with --toolsets and --safety.',
  ];
  return new PolyError('unknown_action', `there is no tool "${name.slice(0, 80)}" for you.`, {
    hint: hint.join(' '),
  });
}

/** Why a client has not got a tool that there is, and who decides. */
export function notForYou(
  { name, toolset, effect, needsUser }: McpTool,
  { caller, choice }: { readonly caller: Caller; readonly choice: Choice },
): PolyError {
  if (needsUser && !isUser(caller)) {
    const message = `${name} is not for programs in panes of the hub, or for agents that have registered: it reaches every pane of a tmux server.`;
    const hint = 'Use the pty_ tools on the panes you have made, or ask your user.';
    return new PolyError('forbidden', message, { hint });
  }
  const needed = safetyOf[effect];
  const lacksSet = !choice.toolsets.has(toolset);
  const lacksSafety = safeties.indexOf(needed) > safeties.indexOf(choice.safety);
  const why = [
    ...(lacksSet ? [`it is of the toolset ${toolset}, which this client has not`] : []),
    ...(lacksSafety ? [`it is ${needed}, and the safety of this client is ${choice.safety}`] : []),
  ];
  const flags = [
    ...(lacksSet ? [wordsFor(toolset, choice)] : []),
    ...(lacksSafety ? [`--safety ${needed}`] : []),
  ];
  return new PolyError('forbidden', `${name}: ${why.join('; ')}.`, {
    hint: `Your user decides that, with poly mcp ${flags.join(' ')}.`,
  });
}

function wordsFor(toolset: Toolset, { toolsets }: Choice): string {
  return toolset === 'operations' ? '--operations' : `--toolsets ${[...toolsets, toolset].join(',')}`;
}
