import { type AgentCreateParams, PolyError } from '@polyphony/protocol';
import type { Setting, Vendor, VendorName } from './vendors/vendor.ts';
import { recogniseVendor } from './vendors/vendors.ts';

export interface Launched {
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly vendor: VendorName;
  /** How many of the last arguments are of this start alone: what it begins with, or goes on with. */
  readonly once: number;
}

/** What agents call their conversations. */
const sessionName = /^[a-z0-9][\w.:-]{0,255}$/i;

const says = (argv: readonly string[], flags: readonly string[]): string | undefined =>
  flags.find((flag) => argv.some((arg) => arg === flag || arg.startsWith(`${flag}=`)));

function refuse(message: string, hint: string): never {
  throw new PolyError('invalid_arguments', message, { hint });
}

function cannot(what: string, argv: readonly string[]): never {
  refuse(
    `${argv[0]} is not an agent whose ${what} can be set.`,
    `Put its own flags into argv, and leave ${what} out. Known agents: claude, codex, opencode, gemini.`,
  );
}

function modelFlags({ launch }: Vendor, argv: readonly string[], model: string): readonly string[] {
  if (launch.model === undefined) cannot('model', argv);
  const { own, pattern, looks } = launch.model;
  const said = says(argv, own);
  if (said) refuse(`the model is said twice: ${said} in argv, and ${model}.`, 'Say it once.');
  if (!pattern.test(model)) refuse(`"${model}" is no model of ${argv[0]}.`, `It takes ${looks}.`);
  return launch.model.argv(model);
}

function permissionSetting(
  { launch }: Vendor,
  argv: readonly string[],
  permissions: 'ask' | 'auto' | undefined,
): Setting {
  const nothing = { argv: [] };
  if (launch.permissions === undefined) return permissions ? cannot('permissions', argv) : nothing;
  const said = says(argv, launch.permissions.own);
  if (said === undefined) return launch.permissions[permissions ?? 'ask'];
  if (permissions === undefined) return nothing;
  return refuse(`permissions are said twice: ${said} in argv, and ${permissions}.`, 'Say them once.');
}

function promptFlags({ launch }: Vendor, argv: readonly string[], prompt: string): readonly string[] {
  return launch.prompt?.(prompt) ?? cannot('prompt', argv);
}

/**
 * The command line and the variables that start an agent as asked.
 *
 * @example launch({ argv: ['claude'], model: 'haiku', prompt: 'hello' }).argv
 * // ['claude', '--model', 'haiku', '--permission-mode', 'manual', '--', 'hello']
 */
export function launch({
  argv,
  model,
  permissions,
  prompt,
}: Pick<AgentCreateParams, 'argv' | 'model' | 'permissions' | 'prompt'>): Launched {
  const vendor = recogniseVendor(argv);
  const { always, env } = vendor.launch;
  const allowed = permissionSetting(vendor, argv, permissions);
  const once = prompt === undefined ? [] : promptFlags(vendor, argv, prompt);
  return {
    argv: [
      ...argv,
      ...(always && !says(argv, always.unless) ? always.argv : []),
      ...(model === undefined ? [] : modelFlags(vendor, argv, model)),
      ...allowed.argv,
      ...once,
    ],
    env: { ...env, ...allowed.env },
    vendor: vendor.name,
    once: once.length,
  };
}

/**
 * The command line that takes a conversation of an agent up again, and how many of its last arguments say so.
 *
 * @example resume(['claude', '--', 'hello'], 2, '1b2c').argv
 * // ['claude', '--resume', '1b2c']
 */
export function resume(
  argv: readonly string[],
  once: number,
  sessionId: string,
): Pick<Launched, 'argv' | 'once'> {
  // It comes from a hook or a note: as an option it could give the agent rights nobody granted.
  if (!sessionName.test(sessionId))
    refuse(`"${sessionId}" is no name of a conversation.`, 'Start the agent without it: poly restart <pane>');
  const vendor = recogniseVendor(argv).launch;
  const again = vendor.resume?.(sessionId) ?? cannot('conversation', argv);
  const kept = argv.slice(0, Math.max(1, argv.length - Math.max(0, Math.trunc(once) || 0)));
  const { at, flags } = vendor.resumeWithout ?? { at: '', flags: [] };
  const begin = says(kept, [at]) ? withoutFlags(kept, flags) : kept;
  return { argv: [...begin, ...again], once: again.length };
}

/** Without these flags and the value of each, in both ways to write it. */
const withoutFlags = (argv: readonly string[], flags: readonly string[]): readonly string[] =>
  argv.filter(
    (arg, index) => !flags.includes(arg) && !flags.includes(argv[index - 1] ?? '') && !says([arg], flags),
  );
