import { nearest, PolyError } from '@polyphony/protocol';
import { flagsOf } from '../action-flags.ts';
import type { ActionInfo } from '../action-info.ts';
import { builtInActions } from '../build.ts';
import { type Call, type Command, command } from '../command.ts';
import { type Flag, type Flags, text } from '../flag.ts';
import { asksForHelp, showAction, showCommand } from '../help.ts';
import { callOnPane } from '../panes.ts';
import { globalFlags, parse } from '../parse.ts';

const body = text('All parameters as one JSON value.', { value: 'JSON' });

export const actionCommands: readonly Command[] = [
  command({
    name: 'action',
    summary: 'Runs an action of the hub.',
    args: ['<name>', '[--param value …]'],
    flags: { body },
    ownWords: true,
    completes: 'action',
    examples: [
      'poly action pane:new --argv vim --argv notes.md --cwd ~/notes',
      'poly action pane:set-meta --paneId <id> --key role --value agent',
      `poly action pane:new --body '{"argv": ["top"], "meta": {"pinned": true}}'`,
      'poly action pane:new --help',
    ],
    run: runAction,
  }),
  command({
    name: 'emit',
    summary: 'Emits an event; the values are text, numbers go in --body.',
    args: ['<event>', '[--param value …]'],
    flags: { body },
    ownWords: true,
    examples: ['poly emit deployed --version 1.2 --by ci', `poly emit deployed --body '{"count": 3}'`],
    run: emit,
  }),
  command({
    name: 'list',
    summary: 'Lists every action there is.',
    examples: ['poly list', "poly list --json | jq -r '.[].name'"],
    async run({ hub, out, json }) {
      const actions = (await hub.get('/actions')) as readonly ActionInfo[];
      if (json) return out.json(actions);
      out.table(actions.map(({ name, summary }) => [out.paint('cyan', name), summary]));
    },
  }),
];

async function runAction(call: Call): Promise<void> {
  const { name, words } = nameAndWords(call.words);
  if (name === undefined) return explain('action', call);
  const info = await findAction(name, call);
  const params = flagsOf(info.params);
  if (asksForHelp(words)) return showAction(call.out, info, params);
  const byBody = words.some((word) => word === '--body' || word.startsWith('--body='));
  const given = readWords(name, words, byBody ? optional(params) : params);
  const result = await (isOnPane(given) && !byBody
    ? callOnPane(call.hub, name, given)
    : call.hub.call(name, given));
  if (call.json) call.out.json(result);
  else call.out.line(JSON.stringify(result, null, 2));
}

async function emit(call: Call): Promise<void> {
  const { name, words } = nameAndWords(call.words);
  if (name === undefined || asksForHelp(words)) return explain('emit', call);
  const named = words.flatMap((word) => /^--([^=]+)/.exec(word)?.[1] ?? []);
  const flags = Object.fromEntries(named.map((flag) => [flag, word]));
  const { seq } = await call.hub.emit(name, readWords(name, words, flags));
  if (call.json) call.out.json({ seq });
  else call.out.line(`${name} is event ${seq}`);
}

/** A parameter of an event, about which nothing is known: a text, or several. */
const word: Flag = {
  help: '',
  value: 'TEXT',
  repeated: true,
  read: (words) => (words.length === 1 ? words[0] : words),
};

function nameAndWords(given: readonly string[]): { name: string | undefined; words: readonly string[] } {
  const at = given.findIndex((one) => !one.startsWith('-'));
  return at < 0
    ? { name: undefined, words: given }
    : { name: given[at], words: [...given.slice(0, at), ...given.slice(at + 1)] };
}

/** The built-in ones are known; those of extensions only the running hub knows. */
async function findAction(name: string, call: Call): Promise<ActionInfo> {
  const known = builtInActions().find((action) => action.name === name);
  if (known) return known;
  const all = (await call.hub.get('/actions')) as readonly ActionInfo[];
  const found = all.find((action) => action.name === name);
  if (found) return found;
  const near = nearest(
    name,
    all.map((action) => action.name),
  );
  throw new PolyError('unknown_action', `there is no action "${name}".`, {
    hint: near === undefined ? 'poly list shows every action.' : `Did you mean ${near}?`,
  });
}

/** The parameters, said in flags or in one body, never in both. */
function readWords(name: string, words: readonly string[], params: Flags): unknown {
  const { flags, args, rest } = parse(words, { ...params, body, ...globalFlags }, { spelledSwitches: true });
  const { body: text, json: _json, help: _help, ...given } = flags as Record<string, unknown>;
  const [stray] = [...args, ...(rest ?? [])];
  if (stray !== undefined)
    throw new PolyError('invalid_arguments', `${name} takes its parameters as flags, not as "${stray}".`, {
      hint: `Say --param ${stray}`,
    });
  if (text === undefined) return given;
  if (Object.keys(given).length > 0)
    throw new PolyError(
      'invalid_arguments',
      `--body is all parameters: --${Object.keys(given)[0]} cannot stand beside it.`,
    );
  try {
    return JSON.parse(String(text));
  } catch (cause) {
    throw new PolyError('invalid_arguments', `--body is not JSON: ${(cause as Error).message}`, {
      hint: `Say --body '{"key": "value"}'`,
      cause,
    });
  }
}

function optional(flags: Flags): Flags {
  return Object.fromEntries(
    Object.entries(flags).map(([name, flag]) => [name, { ...flag, required: false }]),
  );
}

function isOnPane(params: unknown): params is { readonly paneId: string } {
  return typeof (params as { readonly paneId?: unknown }).paneId === 'string';
}

/** Without a name there is nothing to run: help that was asked for, or what is missing. */
function explain(name: 'action' | 'emit', { words, out }: Call): void {
  const row = actionCommands.find((one) => one.name === name) as Command;
  if (!asksForHelp(words))
    throw new PolyError('invalid_arguments', `${name} needs ${row.args?.[0]}.`, {
      hint: `See poly ${name} --help.`,
    });
  showCommand(out, row);
}
