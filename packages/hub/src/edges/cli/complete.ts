import { flagsOf } from './action-flags.ts';
import type { ActionInfo } from './action-info.ts';
import { builtInActions } from './build.ts';
import type { Command } from './command.ts';
import { commands } from './commands.ts';
import type { Env } from './env.ts';
import { connectHub } from './find-hub.ts';
import type { Flags } from './flag.ts';
import { clientNames, hookClientNames } from './install/client-names.ts';
import { globalFlags } from './parse.ts';

/** What may stand where the last of the words is being typed. */
export async function complete(words: readonly string[], env: Env): Promise<readonly string[]> {
  const typed = words.at(-1) ?? '';
  const before = words.slice(0, -1);
  if (before.includes('--')) return [];
  const candidates = await candidatesFor(before, typed, env);
  return [...new Set(candidates)].filter((candidate) => candidate.startsWith(typed)).sort();
}

async function candidatesFor(before: readonly string[], typed: string, env: Env): Promise<readonly string[]> {
  // Of `mcp` and `mcp install` the one that says more, which the table has behind the other.
  const command = commands.findLast(({ name }) => name === before.slice(0, name.split(' ').length).join(' '));
  if (!command) return nextWords(before);
  const given = before.slice(command.name.split(' ').length);
  const flags = { ...(await flagsFor(command, given, env)), ...globalFlags };
  const last = flags[given.at(-1)?.replace(/^--/, '') as keyof typeof flags] as Flags[string] | undefined;
  if (last?.value !== undefined) return last.choices ?? [];
  if (typed.startsWith('-')) return Object.keys(flags).map((name) => `--${name}`);
  const many = command.args?.[0]?.includes('…') && command.completes?.endsWith('client');
  if (!many && given.some((word) => !word.startsWith('-'))) return [];
  // A command may be a noun as well, like `poly mcp`.
  return [...nextWords(before), ...(await argumentsOf(command, env))];
}

function nextWords(before: readonly string[]): readonly string[] {
  return commands
    .map(({ name }) => name.split(' '))
    .filter((name) => before.every((word, index) => name[index] === word))
    .flatMap((name) => name[before.length] ?? []);
}

async function flagsFor(command: Command, [action]: readonly string[], env: Env): Promise<Flags> {
  if (command.completes !== 'action' || action === undefined) return command.flags ?? {};
  const found = (await everyAction(env)).find(({ name }) => name === action);
  return { ...(found && flagsOf(found.params)), ...command.flags };
}

async function argumentsOf({ completes, args = [] }: Command, env: Env): Promise<readonly string[]> {
  switch (completes) {
    case 'pane':
      return ifThereIsAHub(async () => (await connectHub(env).call('pane:list', {})).map(({ id }) => id), []);
    case 'agent':
      return ifThereIsAHub(
        async () => (await connectHub(env).call('agent:list', {})).map(({ id }) => id),
        [],
      );
    case 'approval':
      return ifThereIsAHub(
        async () => (await connectHub(env).call('approval:list', {})).approvals.map(({ id }) => id),
        [],
      );
    case 'action':
      return (await everyAction(env)).map(({ name }) => name);
    case 'client':
      return clientNames;
    case 'hook client':
      return hookClientNames;
    case 'file':
      return [];
    default:
      return /^<[\w|]+\|[\w|]+>$/.test(args[0] ?? '') ? (args[0]?.slice(1, -1).split('|') ?? []) : [];
  }
}

function everyAction(env: Env): Promise<readonly ActionInfo[]> {
  return ifThereIsAHub(
    async () => (await connectHub(env).get('/actions')) as readonly ActionInfo[],
    builtInActions(),
  );
}

/** Nobody wants an error while typing. */
async function ifThereIsAHub<T>(ask: () => Promise<T>, otherwise: T): Promise<T> {
  try {
    return await ask();
  } catch {
    return otherwise;
  }
}
