import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PolyError } from '@polyphony/protocol';
import { skillFile } from '../build.ts';
import type { Call } from '../command.ts';
import { diffOf, make, undone, unmake } from './change.ts';
import { type AgentClient, clients, expanded } from './clients.ts';
import type { InstallFlags } from './install.ts';
import { forEachTarget } from './outcomes.ts';
import { Receipts } from './receipts.ts';
import type { Scope } from './scopes.ts';
import { clientsNamed, isDetected, type Target } from './targets.ts';
import { readUserFile, type UserFile } from './user-file.ts';

type SkillCall = Call & { readonly flags: Pick<InstallFlags, 'scope' | 'dry-run' | 'force'> };

const what = 'skill';
const skill = (): string => readFileSync(skillFile, 'utf8');

export function printSkill({ out, json }: Call): void {
  if (json) out.json({ name: 'polyphony', skill: skill() });
  else out.bytes(skill());
}

export function installSkill(call: SkillCall): number {
  const { flags, env } = call;
  const receipts = new Receipts(env);
  const targets = targetsOf(call, true);
  if (targets.length === 0)
    throw new PolyError('not_found', 'no coding agent that reads skills was found here.', {
      hint: `Name one: ${readers.map(({ name }) => name).join(', ')}. Or put what poly skill prints where yours reads.`,
    });
  return forEachTarget(call, targets, ({ file: path }) => {
    const file = readUserFile(path);
    const text = skill();
    if (file.text === text) return { state: 'unchanged' };
    const renews = file.text !== undefined;
    if (renews && !flags.force && !undone(file, what, receipts)) throw refuse(file);
    const state = renews ? 'updated' : 'added';
    if (flags['dry-run']) return { state, diff: diffOf({ file, text }) };
    const newMode = flags.scope === 'project' ? 0o644 : 0o600;
    const backup = make({ file, text }, receipts, { what, renews: false, madeTable: false, newMode });
    return { state, ...(backup && { backup }) };
  });
}

export function uninstallSkill(call: SkillCall): number {
  const { flags, args, env } = call;
  const receipts = new Receipts(env);
  return forEachTarget(call, targetsOf(call, false), ({ file: path }) => {
    const file = readUserFile(path);
    if (file.text === undefined) return args.length > 0 ? { state: 'absent' } : undefined;
    const exact = undone(file, what, receipts);
    if (!exact && file.text !== skill() && !flags.force) throw refuse(file);
    const change = exact ?? { file, text: undefined };
    if (flags['dry-run']) return { state: 'removed', diff: diffOf(change) };
    return { state: 'removed', backup: unmake(change, what, receipts) };
  });
}

const readers = clients.filter(({ skills }) => skills !== undefined);

function targetsOf(
  { args, flags: { scope = 'user' }, env }: SkillCall,
  detected: boolean,
): readonly Target[] {
  const named = clientsNamed(args, readers);
  const chosen = named.length > 0 ? named : readers.filter((one) => !detected || isDetected(one, env));
  return chosen.map(({ name, title, skills }: AgentClient) => {
    const folder = expanded(skills?.[scope as Scope] ?? '', env);
    return { client: name, title, file: join(folder, 'polyphony', 'SKILL.md') };
  });
}

function refuse({ path }: UserFile): PolyError {
  return new PolyError('conflict', `${path} is not as poly writes it. Nothing was changed.`, {
    hint: 'Say --force to go on; a backup is kept.',
  });
}
