import { existsSync, realpathSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { PolyError } from '@polyphony/protocol';
import { placesOf } from '../../../platform/places.ts';
import { age } from '../age.ts';
import type { Call } from '../command.ts';
import { shellWord } from '../shell-word.ts';
import { type Change, diffOf, make, unmake } from './change.ts';
import { type AgentClient, clients, expanded } from './clients.ts';
import { afterChange, type Document } from './document.ts';
import {
  type FoundHooks,
  hasOurLine,
  isSame,
  isWhole,
  itemsIn,
  listsToMake,
  lookForHooks,
  type Wish,
  withHooks,
  withoutHooks,
} from './hook-entries.ts';
import { HookScripts } from './hook-scripts.ts';
import { type HookShape, type WishedHook, wishedHooks } from './hook-shape.ts';
import { lookForTrust, missingTrust, type Trust, trustOf, withoutTrust, withTrust } from './hook-trust.ts';
import { forEachTarget } from './outcomes.ts';
import { Receipts } from './receipts.ts';
import { type LineState, statusLineEntry } from './status-line-entry.ts';
import { clientsNamed, isDetected, polyCommand, type Target } from './targets.ts';
import { requireWritable } from './user-file.ts';

type HooksCall = Call & {
  readonly flags: { readonly project?: boolean; readonly 'dry-run'?: boolean; readonly force?: boolean };
};

const what = 'hooks';
const whatTrusts = (hooksFile: string): string => `trust:${hooksFile}`;

export async function installHooks(call: HooksCall): Promise<number> {
  const { flags, env } = call;
  const receipts = new Receipts(env);
  const scripts = new HookScripts(env);
  const targets = await targetsOf(call, true);
  if (targets.length === 0)
    throw new PolyError('not_found', 'no coding agent with hooks was found here.', {
      hint: `Name one: ${capable.map(({ name }) => name).join(', ')}.`,
    });
  let scriptsShown = false;
  return forEachTarget(call, targets, (target) => {
    const { file, wish } = target;
    const found = lookForHooks(file, wish);
    if (found.drifted.length > 0 && !flags.force) throw refuseDrift(found);
    const trust = target.trust && lookForTrust(target.trust.file);
    const change = isWhole(found) ? undefined : withHooks(found, wish);
    const granting =
      trust && trustChange(trust, trustIn(target, change ? afterChange(change, 'json') : found));
    const renewed = scripts.state !== 'current';
    const afterwards = afterwardsOf(target, found);
    if (!change && !granting && !renewed) return { state: 'unchanged', ...(afterwards && { afterwards }) };
    const state = found.items.length === 0 ? 'added' : 'updated';
    const changes = [change, granting].filter((one) => one !== undefined);
    if (flags['dry-run']) {
      const own = scriptsShown ? '' : scripts.diff;
      scriptsShown = true;
      const diff = own + changes.map(diffOf).join('');
      return { state, diff, ...(afterwards && { afterwards }) };
    }
    for (const one of changes) requireWritable(one.file);
    // First, so that no hook ever starts what is not there.
    if (renewed) scripts.renew();
    const earlier = receipts.find(found.file.path, what);
    const backup =
      change &&
      make(change, receipts, {
        what,
        renews: found.items.length > 0,
        madeTable: earlier?.madeTable || !Object.hasOwn(found.data, 'hooks'),
        made: [...new Set([...(earlier?.made ?? []), ...listsToMake(found, wish)])],
        newMode: flags.project ? 0o644 : 0o600,
      });
    if (granting)
      make(granting, receipts, { what: whatTrusts(file), renews: false, madeTable: false, newMode: 0o600 });
    return { state, ...(backup && { backup }), ...(afterwards && { afterwards }) };
  });
}

/** What is left to the user: what the client needs, and a status line that was there before. */
function afterwardsOf(
  { title, file, afterwards, wish }: HooksTarget,
  { line }: FoundHooks,
): string | undefined {
  const own =
    line === 'own' &&
    `${title} has a status line of your own in ${file}, which stays. For project, session and driver, let it run: ${wish.line?.entry.command}`;
  return [afterwards, own].filter(Boolean).join('\n') || undefined;
}

export async function uninstallHooks(call: HooksCall): Promise<number> {
  const { flags, args, env } = call;
  const receipts = new Receipts(env);
  const targets = await targetsOf(call, false);
  const code = forEachTarget(call, targets, (target) => {
    const { file, wish, trust: trusting } = target;
    const found = lookForHooks(file, wish);
    const revoking =
      trusting &&
      withoutTrust(lookForTrust(trusting.file), {
        ...{ hooksFile: trusting.names, receipts, what: whatTrusts(file) },
        digests: wish.hooks.map((hook) => trusted(target, hook, 0)[1]),
      });
    const isThere = found.items.length > 0 || hasOurLine(found);
    if (!isThere && !revoking) return args.length > 0 ? { state: 'absent' } : undefined;
    if (found.drifted.length > 0 && !flags.force) throw refuseDrift(found);
    const change = isThere ? withoutHooks(found, what, receipts, wish.line) : undefined;
    const changes = [change, revoking].filter((one) => one !== undefined);
    if (flags['dry-run']) return { state: 'removed', diff: changes.map(diffOf).join('') };
    for (const one of changes) requireWritable(one.file);
    if (revoking) unmake(revoking, whatTrusts(file), receipts);
    return { state: 'removed', ...(change && { backup: unmake(change, what, receipts) }) };
  });
  if (!flags['dry-run'] && !receipts.has(what)) new HookScripts(env).remove();
  return code;
}

export async function hooksStatus(call: HooksCall): Promise<number> {
  const { env, offline } = call;
  const script = new HookScripts(env).state;
  const counted = await offline.countCaptured(placesOf(env).database);
  return forEachTarget(call, await targetsOf(call, false), (target) => {
    const { file, wish, client } = target;
    const detected = capable.some((one) => one.name === client && isDetected(one, env));
    const found = lookForHooks(file, wish);
    const untrusted = !target.trust
      ? []
      : missingTrust(lookForTrust(target.trust.file), trustIn(target, found));
    const state = stateOf({ ...found, untrusted, script, detected });
    const { captured = 0, lastAt } = counted[client] ?? {};
    const record = {
      ...{ detected, captured, ...(lastAt !== undefined && { lastEventAt: new Date(lastAt).toISOString() }) },
      kept: lastAt === undefined ? '' : `${captured} captured, the last ${age(lastAt)} ago`,
    };
    if (found.items.length === 0) return { state, ...record };
    const [captures = '', ...delivers] = countsOf(wish, found);
    const hears = `${captures} events${untrusted.length > 0 ? `, ${untrusted.length} not trusted` : ''}`;
    const [missing, drifted] = [found.missing, found.drifted].map(eventsIn);
    const line = found.line && { statusLine: found.line, line: lines[found.line] };
    return {
      ...{ state, ...record, hears, delivers: delivers.join(', '), ...line },
      ...{ missing, drifted, untrusted, script },
    };
  });
}

const lines: Readonly<Record<LineState, string>> = {
  ...{ ours: 'status line', own: 'a status line of your own' },
  ...{ none: 'no status line', outdated: 'a status line of another poly' },
};

/** How many of the entries of each script are there as poly writes them. */
function countsOf({ hooks }: Wish, { items }: FoundHooks): readonly string[] {
  const scripts = [...new Set(hooks.map(({ script }) => script))];
  return scripts.map((script, index) => {
    const all = hooks.filter((hook) => hook.script === script);
    const there = all.filter((hook) => items.some((item) => item.intact && isSame(item, hook)));
    return `${index > 0 ? `${basename(script, '.sh')} at ` : ''}${there.length} of ${all.length}`;
  });
}

const eventsIn = (hooks: readonly Pick<WishedHook, 'event'>[]): readonly string[] => [
  ...new Set(hooks.map(({ event }) => event)),
];

interface Seen extends Pick<FoundHooks, 'items' | 'missing' | 'drifted'> {
  readonly untrusted: readonly string[];
  readonly script: HookScripts['state'];
  readonly detected: boolean;
}

function stateOf({ items, missing, drifted, untrusted, script, detected }: Seen): string {
  if (items.length === 0) return detected ? 'not installed' : 'not found here';
  if (drifted.length > 0) return 'drifted';
  if (missing.length > 0 || untrusted.length > 0) return 'partly';
  return script === 'current' ? 'installed' : `${script} script`;
}

const capable = clients.filter(({ hooks }) => hooks !== undefined);

interface HooksTarget extends Target {
  readonly wish: Wish;
  /** The file in which the client writes down which hooks its user trusts, and how it names the file of the hooks. */
  readonly trust?: { readonly file: string; readonly names: string };
}

async function targetsOf(
  { args, flags: { project = false }, env, offline }: HooksCall,
  detected: boolean,
): Promise<readonly HooksTarget[]> {
  const events = await offline.capturedEvents();
  const those = `Those with hooks are ${capable.map(({ name }) => name).join(', ')}.`;
  const without = clients.find(({ name, hooks }) => !hooks && args.some((arg) => arg.toLowerCase() === name));
  if (without)
    throw new PolyError('invalid_arguments', `${without.title} has no hooks that poly knows.`, {
      hint:
        without.name === 'opencode'
          ? `Its plugin tells in their place: see docs/capture.md. ${those}`
          : those,
    });
  const named = clientsNamed(args, capable, those);
  const chosen = named.length > 0 ? named : capable.filter((one) => !detected || isDetected(one, env));
  const scope = project ? 'project' : 'user';
  const scripts = new HookScripts(env);
  const pathOf: Wish['pathOf'] = (script) => scripts.pathOf(script);
  return chosen.map(({ name, title, hooks }: AgentClient) => {
    const shape = hooks as HookShape;
    const wished = wishedHooks(shape, events[name] ?? [], (script) => `${shellWord(pathOf(script))} ${name}`);
    const afterwards = shape.afterwards?.[scope];
    const file = expanded(shape.places[scope], env);
    const line =
      shape.statusLine === undefined || project
        ? undefined
        : { key: shape.statusLine, entry: statusLineEntry(shellWord(polyCommand(env))) };
    return {
      ...{ client: name, title, file },
      wish: { hooks: wished, heading: shape.heading ?? {}, pathOf, line },
      ...(shape.trust && { trust: { file: expanded(shape.trust, env), names: namedByCodex(file, env) } }),
      ...(afterwards && { afterwards }),
    };
  });
}

/** Codex 0.166 resolves the links of CODEX_HOME, and no others. */
function namedByCodex(file: string, { CODEX_HOME }: HooksCall['env']): string {
  const folder = dirname(file);
  const resolved = CODEX_HOME && resolve(CODEX_HOME) === folder && existsSync(folder);
  return resolved ? join(realpathSync(folder), basename(file)) : file;
}

function trusted({ file, trust }: HooksTarget, hook: WishedHook, index: number): [string, string] {
  return trustOf(trust?.names ?? file, hook.event, index, hook.entry);
}

/** What trusts the entries of a file as it is, or as it is to be. */
function trustIn(target: HooksTarget, document: Document): Trust {
  const { hooks } = target.wish;
  const intact = itemsIn(document, target.wish).filter((item) => item.intact);
  return Object.fromEntries(
    intact.map((item) => {
      const hook = hooks.find((one) => isSame(one, item)) as WishedHook;
      return trusted(target, hook, item.index);
    }),
  );
}

function trustChange(document: Document, trust: Trust): Change | undefined {
  return missingTrust(document, trust).length === 0 ? undefined : withTrust(document, trust);
}

function refuseDrift({ file: { path }, drifted }: FoundHooks): PolyError {
  return new PolyError(
    'conflict',
    `our hooks for ${eventsIn(drifted).join(', ')} in ${path} are not as poly writes them. Nothing was changed.`,
    { hint: 'Look at the difference with --force --dry-run, then say --force; a backup is kept.' },
  );
}
