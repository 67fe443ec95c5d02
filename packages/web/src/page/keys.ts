/** What can be done without a mouse. */
export type Command =
  | 'filter'
  | 'help'
  | 'next'
  | 'previous'
  | 'first'
  | 'last'
  | 'open'
  | 'needed'
  | 'new'
  | 'end'
  | 'search'
  | 'fit'
  | 'follow'
  | 'one'
  | 'two'
  | 'four'
  | 'approvals'
  | 'theme'
  | 'larger'
  | 'smaller'
  | 'fitting'
  | 'terminals'
  | 'floor'
  | 'agents'
  | 'mail'
  | 'tasks'
  | 'contracts'
  | 'answer'
  | 'read'
  | 'back'
  | 'star'
  | 'tag'
  | 'decide'
  | 'since'
  | 'dismiss';

interface Key {
  readonly keys: readonly string[];
  readonly command: Command;
  readonly does: string;
}

/** The keys that do the same wherever one is, for the handler and for the help. */
export const pageKeys: readonly Key[] = [
  { keys: ['p'], command: 'terminals', does: 'the terminals: every pane' },
  { keys: ['o'], command: 'floor', does: 'the floor: projects and their sessions' },
  { keys: ['w'], command: 'agents', does: 'the agents: who is there' },
  { keys: ['m'], command: 'mail', does: 'the mail' },
  { keys: ['b'], command: 'tasks', does: 'the tasks: the board' },
  { keys: ['v'], command: 'contracts', does: 'the contracts: their versions' },
  { keys: ['n'], command: 'needed', does: 'the next agent that needs you' },
  { keys: ['a'], command: 'approvals', does: 'go to what waits for your approval' },
  { keys: ['t'], command: 'theme', does: 'from dark to light, or from light to dark' },
  { keys: ['Escape'], command: 'dismiss', does: 'take a message of what went wrong away' },
  { keys: ['?'], command: 'help', does: 'this help' },
];

/** Those of the mail, beside the ones that move through a list. */
export const mailKeys: readonly Key[] = [
  { keys: ['c'], command: 'new', does: 'write a message' },
  { keys: ['r'], command: 'answer', does: 'answer in the open thread' },
  { keys: ['R'], command: 'read', does: 'take everything as read' },
  { keys: ['/'], command: 'filter', does: 'search' },
];

/** Those of an open session, beside the ones that move from entry to entry. */
export const sessionKeys: readonly Key[] = [
  { keys: ['/'], command: 'filter', does: 'search the session' },
  { keys: ['e'], command: 'follow', does: 'go to what happens now, and follow it' },
  { keys: ['r'], command: 'answer', does: 'advise' },
  { keys: ['*'], command: 'star', does: 'star the entry, or take its star away' },
  { keys: ['#'], command: 'tag', does: 'tag the entry' },
  { keys: ['d'], command: 'decide', does: 'mark what was decided there' },
  { keys: ['i'], command: 'since', does: 'what changed since you last drove' },
  { keys: ['u'], command: 'back', does: 'back to the floor' },
];

/** Those of the list of panes; the first ones move through every list. */
export const listKeys: readonly Key[] = [
  { keys: ['j', 'ArrowDown'], command: 'next', does: 'the next pane' },
  { keys: ['k', 'ArrowUp'], command: 'previous', does: 'the previous pane' },
  { keys: ['g', 'Home'], command: 'first', does: 'the first pane' },
  { keys: ['G', 'End'], command: 'last', does: 'the last pane' },
  { keys: ['Enter'], command: 'open', does: 'open the pane, and type into it' },
  { keys: ['/'], command: 'filter', does: 'filter the list' },
  { keys: ['c'], command: 'new', does: 'start a new pane' },
  { keys: ['x'], command: 'end', does: 'end the pane (asks first)' },
  { keys: ['s'], command: 'search', does: 'search what the open pane printed' },
  { keys: ['f'], command: 'fit', does: 'give the open pane the size of its tile' },
  { keys: ['e'], command: 'follow', does: 'go to the end of the output, and follow it' },
  { keys: ['1'], command: 'one', does: 'one tile' },
  { keys: ['2'], command: 'two', does: 'two tiles' },
  { keys: ['4'], command: 'four', does: 'four tiles' },
  { keys: ['+', '='], command: 'larger', does: 'larger letters' },
  { keys: ['-'], command: 'smaller', does: 'smaller letters' },
  { keys: ['0'], command: 'fitting', does: 'letters of the size that fits' },
];

/** In a terminal every key is the program's but these, which no program can tell from the same without Shift. */
export const terminalKeys: readonly { readonly key: string; readonly does: string }[] = [
  { key: 'Ctrl-Shift-L', does: 'leave the terminal for the list' },
  { key: 'Ctrl-Shift-F', does: 'search what the pane printed' },
  { key: 'Ctrl-Shift-C', does: 'copy what is selected' },
  { key: 'Ctrl-Shift-V', does: 'paste' },
  { key: 'Shift-PageUp', does: 'scroll back' },
  { key: 'Ctrl-Shift-Home', does: 'go to the oldest output that is kept' },
  { key: 'Ctrl-Shift-End', does: 'go to the end, and follow it' },
];

const byKey = new Map(
  [...pageKeys, ...mailKeys, ...sessionKeys, ...listKeys].flatMap(({ keys, command }) =>
    keys.map((key) => [key, command] as const),
  ),
);

/** What a key pressed outside of any field means. */
export function commandOfKey({ key, ctrlKey, altKey, metaKey, target }: KeyboardEvent): Command | undefined {
  if (ctrlKey || altKey || metaKey || document.querySelector('dialog[open]')) return undefined;
  const element = target instanceof Element ? target : undefined;
  if (element?.closest('input, textarea, select, [contenteditable], .box')) return undefined;
  // A button that has the focus is pressed by Enter.
  if (key === 'Enter' && element?.closest('button, a, summary')) return undefined;
  return byKey.get(key);
}
