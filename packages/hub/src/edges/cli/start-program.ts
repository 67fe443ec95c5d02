import { asSentence, type Client, environmentToPass, PolyError } from '@polyphony/protocol';
import type { Env } from './env.ts';

interface ProgramFlags {
  readonly name?: string;
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
}

interface Around {
  readonly flags: ProgramFlags;
  readonly env: Env;
  readonly hub: Client;
}

/** Starts a program in a new pane as if it were started here: in this folder, with this environment. */
export async function startProgram<T>(
  action: 'pane:new' | 'agent:create',
  argv: readonly string[],
  { flags: { name, cwd, env: added, ...more }, env, hub }: Around,
): Promise<T> {
  const { resolve } = await import('node:path');
  try {
    return (await hub.call(action as string, {
      ...(argv.length > 0 && { argv }),
      ...(name !== undefined && { id: name }),
      cwd: resolve(cwd ?? '.'),
      env: { ...environmentToPass(env), ...added },
      ...more,
    })) as T;
  } catch (error) {
    throw error instanceof PolyError ? inWordsOfFlags(error, argv) : error;
  }
}

/** What the hub calls its parameters, as they were typed here. */
const flagNames: Readonly<Record<string, string>> = { id: '--name', argv: 'the program' };

function inWordsOfFlags(error: PolyError, argv: readonly string[]): PolyError {
  const { code, details } = error;
  if (code === 'invalid_arguments' && Array.isArray(details)) {
    const problems = (
      details as readonly { readonly path: readonly string[]; readonly message: string }[]
    ).map(({ path: [parameter = ''], message }) => {
      const flag = flagNames[parameter] ?? `--${parameter}`;
      return `${flag} ${message}`;
    });
    return new PolyError(code, asSentence(problems), { details, cause: error });
  }
  const [program = ''] = argv;
  if (
    code === 'spawn_failed' &&
    argv.length === 1 &&
    /\s/.test(program) &&
    error.message.includes('no program')
  )
    return new PolyError(code, error.message, {
      hint: "For a shell line: poly run -- sh -c '…'",
      cause: error,
    });
  return error;
}
