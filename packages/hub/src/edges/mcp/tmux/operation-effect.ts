import type { Effect } from '@polyphony/protocol';
import type { Operation } from '@polyphony/tmux';
import { raisedByFormat, raisedByOption } from './raised.ts';

/** How far something goes, and why, where that is further than its name says. */
export interface Reach {
  readonly effect: Effect;
  readonly why?: string;
}

const order: readonly Effect[] = ['read', 'write', 'destructive'];

/** The one of several that goes furthest. */
export function furthest(reaches: readonly Reach[]): Reach {
  return reaches.reduce(
    (worst, one) => (order.indexOf(one.effect) > order.indexOf(worst.effect) ? one : worst),
    { effect: 'read' },
  );
}

const runsCommands = 'it makes tmux run commands';
const runsShell = 'it runs a command of a shell';
const endsProgram = 'it ends a program';

/** Operations that go further whatever they are given. */
const always: Readonly<Record<string, string>> = {
  run_shell: runsShell,
  source_file: runsCommands,
  set_hook: runsCommands,
  set_hook_monitor: runsCommands,
  command_prompt: runsCommands,
  set_environment: 'it gives programs other variables',
  save_buffer: 'it writes a file',
  close_popup: endsProgram,
  choose_buffer: 'keys typed into it delete and run things',
  choose_client: 'keys typed into it end things',
  choose_tree: 'keys typed into it end things',
  find_window: 'keys typed into it end things',
  customize_mode: 'keys typed into it set every option',
};

/** Parameters that make any operation go further. */
const byParameter: Readonly<Record<string, string>> = {
  kill: 'it ends what is there',
  shell: runsShell,
  commandLine: runsShell,
  exec: runsShell,
  environment: 'it gives programs other variables',
  command: runsCommands,
  otherwise: runsCommands,
  template: runsCommands,
  items: runsCommands,
  hangUp: endsProgram,
};

/** Texts that tmux takes as they are, or that are written so that it does. Every other text may be a format. */
const verbatim: ReadonlySet<string> = new Set([
  ...['name', 'windowName', 'startDirectory', 'path', 'keys', 'data', 'bufferName', 'channel', 'separator', 'user'],
  ...['target', 'source', 'groupWith', 'session', 'option', 'value', 'note', 'key', 'table', 'layout'],
]); // biome-ignore format: a list
/** Where a title is a name, and not a format. */
const plainTitle = 'select_pane';

/** How far a kind of operation goes at least, whatever it is given. */
export const leastEffectOf = ({ kind, effect }: Pick<Operation, 'kind' | 'effect'>): Effect =>
  kind in always ? 'destructive' : effect;

/** What an operation may do with the parameters it has: that of its kind, or more. */
export function reachOf({ kind, effect, params }: Operation): Reach {
  const given = Object.entries(params as Record<string, unknown>).filter(
    ([, value]) => value !== undefined && value !== false,
  );
  const why =
    always[kind] ??
    given.map(([name]) => byParameter[name]).find((one) => one !== undefined) ??
    raisedByTexts(kind, given) ??
    raisedBySetting(kind, Object.fromEntries(given));
  if (effect === 'destructive') return { effect, why: `${kind} ends or runs things` };
  if (why !== undefined) return { effect: 'destructive', why };
  // A message on somebody's status line is no longer only looked at.
  if (kind === 'display_message' && given.some(([name]) => name === 'client'))
    return { effect: 'write', why: 'it shows something to a person' };
  return { effect };
}

function raisedByTexts(kind: string, given: readonly (readonly [string, unknown])[]): string | undefined {
  return given
    .filter(([name]) => !verbatim.has(name) && !(name === 'title' && kind === plainTitle))
    .flatMap(([name, value]) => textsIn(value).map((text) => raisedByText(name, text)))
    .find((why) => why !== undefined);
}

function raisedByText(name: string, text: string): string | undefined {
  // Commands of copy mode that pipe what is selected to a program.
  if (name === 'copyModeCommand' && text.includes('pipe')) return runsShell;
  return name === 'copyModeCommand' ? undefined : raisedByFormat(text);
}

function raisedBySetting(kind: string, given: Readonly<Record<string, unknown>>): string | undefined {
  if (kind !== 'set_option' && kind !== 'set_window_option') return undefined;
  const { option, value, expandFormats } = given as { option: string; value?: string; expandFormats?: true };
  const expands =
    expandFormats && value?.includes('#') ? 'what a format becomes may be one again' : undefined;
  return raisedByOption(option, value) ?? expands;
}

function textsIn(value: unknown): readonly string[] {
  if (typeof value === 'string') return [value];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsIn) : [];
}
