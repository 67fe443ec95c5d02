import { isDeepStrictEqual } from 'node:util';
import { PolyError } from '@polyphony/protocol';
import { choiceOf } from '../../mcp/choose-tools.ts';
import type { Call } from '../command.ts';
import { wordsOf as choiceWords, queryOf, type ToolChoice } from '../mcp/tool-choice.ts';
import { shellWord } from '../shell-word.ts';
import { diffOf, make, unmake } from './change.ts';
import { clients, wordsOf } from './clients.ts';
import { look, refuseForeign, withEntry, withoutEntry } from './mcp-entry.ts';
import { forEachTarget } from './outcomes.ts';
import { Receipts } from './receipts.ts';
import type { Scope } from './scopes.ts';
import { isDetected, isProgram, onPath, polyCommand, type Target, targetsOf } from './targets.ts';

export interface InstallFlags extends ToolChoice {
  readonly scope?: string;
  readonly config?: string;
  readonly name?: string;
  readonly 'dry-run'?: boolean;
  readonly force?: boolean;
}

type InstallCall = Call & { readonly flags: InstallFlags };

export function install(call: InstallCall): number {
  const { flags, env } = call;
  const { force = false } = flags;
  choiceOf(queryOf(flags));
  const words = [polyCommand(env), 'mcp', ...choiceWords(flags)] as const;
  const name = nameOf(flags);
  const receipts = new Receipts(env);
  const targets = wanted(call, true);
  if (targets.length === 0)
    throw new PolyError('not_found', 'no coding agent was found here.', {
      hint: `Name one: ${clients.map((client) => client.name).join(', ')}. Or a file: --config FILE`,
    });
  return forEachTarget(call, targets, (target) => {
    const found = look(target, name);
    const entry = found.shape.entry(words);
    if (isDeepStrictEqual(found.entry, entry)) return { state: 'unchanged', entry };
    if (found.state === 'foreign' && !force) throw refuseForeign(found, name);
    const change = withEntry(found, name, entry);
    const state = found.state === 'absent' ? 'added' : 'updated';
    if (flags['dry-run']) return { state, entry, diff: diffOf(change) };
    const backup = make(change, receipts, {
      what: whatOf(name),
      renews: found.state === 'ours',
      madeTable: !Object.hasOwn(found.data, found.shape.table),
      newMode: flags.scope === 'project' ? 0o644 : 0o600,
    });
    const { afterwards } = target;
    return { state, entry, ...(backup && { backup }), ...(afterwards && { afterwards }) };
  });
}

export function uninstall(call: InstallCall): number {
  const { flags, env, args } = call;
  const name = nameOf(flags);
  const receipts = new Receipts(env);
  return forEachTarget(call, wanted(call, false), (target) => {
    const found = look(target, name);
    // Of clients that nobody named, only those that have it are worth a word.
    if (found.state === 'absent') return args.length > 0 || flags.config ? { state: 'absent' } : undefined;
    if (found.state === 'foreign' && !flags.force) throw refuseForeign(found, name);
    const change = withoutEntry(found, name, whatOf(name), receipts);
    if (flags['dry-run']) return { state: 'removed', diff: diffOf(change) };
    return { state: 'removed', backup: unmake(change, whatOf(name), receipts) };
  });
}

export function status(call: InstallCall): number {
  const { flags, env } = call;
  const name = nameOf(flags);
  return forEachTarget(call, wanted(call, false), (target) => {
    const client = clients.find((one) => one.name === target.client);
    const detected = client === undefined || isDetected(client, env);
    const { state, entry } = look(target, name);
    const words = wordsOf(entry);
    const [command = ''] = words ?? [];
    const gone = state === 'ours' && !(command.startsWith('/') ? isProgram(command) : onPath(command, env));
    const says = state === 'absent' ? (detected ? 'not installed' : 'not found here') : states[state];
    return {
      state: gone ? 'its program is gone' : says,
      detected,
      ...(words && { starts: words.map(shellWord).join(' ') }),
    };
  });
}

const states = { ours: 'installed', foreign: 'not ours' };

const whatOf = (name: string): string => `mcp:${name}`;

function nameOf({ name = 'poly' }: InstallFlags): string {
  if (/^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/.test(name)) return name;
  throw new PolyError('invalid_arguments', `--name must be 1 to 64 letters, digits, _ and -, not "${name}".`);
}

function wanted(
  { args, flags: { scope = 'user', config }, env }: InstallCall,
  detected: boolean,
): readonly Target[] {
  if (config !== undefined && scope !== 'user')
    throw new PolyError(
      'invalid_arguments',
      '--config names the file, and --scope looks for one: give one of them.',
    );
  const chosen = { names: args, scope: scope as Scope, ...(config !== undefined && { config }) };
  return targetsOf(chosen, env, detected ? isDetected : () => true);
}
