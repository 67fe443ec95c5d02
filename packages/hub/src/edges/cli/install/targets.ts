import { accessSync, constants, existsSync, realpathSync, statSync } from 'node:fs';
import { delimiter, join, resolve } from 'node:path';
import { didYouMean, PolyError } from '@polyphony/protocol';
import { launcher } from '../build.ts';
import type { Env } from '../env.ts';
import { type AgentClient, clients, expanded, type Shape } from './clients.ts';
import type { Scope } from './scopes.ts';

/** One file that is to hold an entry. */
export interface Target {
  readonly client: string;
  readonly title: string;
  readonly file: string;
  /** Unknown of a file that was named without a client: it shows by itself. */
  readonly shape?: Shape;
  readonly afterwards?: string;
}

export interface Wanted {
  readonly names: readonly string[];
  readonly scope: Scope;
  readonly config?: string;
}

/** The files that are meant: of the clients that were named, or of all those that `choose` takes. */
export function targetsOf({ names, scope, config }: Wanted, env: Env, choose: Choose): readonly Target[] {
  const named = clientsNamed(names);
  if (config !== undefined) return [fileNamed(config, named)];
  const chosen = named.length > 0 ? named : clients.filter((client) => choose(client, env));
  return chosen.flatMap((client) => {
    const places = client.places[scope];
    if (!places && named.length > 0)
      throw new PolyError(
        'invalid_arguments',
        `${client.title} has no file for one project that poly knows.`,
        {
          hint: `Say --scope user, or name the file: poly mcp install ${client.name} --config FILE`,
        },
      );
    const { name, title, shape, afterwards } = client;
    return (places ?? []).map((place) => {
      const files = place.map((path) => expanded(path, env));
      const file = files.find((one) => existsSync(one)) ?? files[0] ?? '';
      return {
        client: name,
        title,
        shape,
        file,
        ...(afterwards?.[scope] && { afterwards: afterwards[scope] }),
      };
    });
  });
}

type Choose = (client: AgentClient, env: Env) => boolean;

function fileNamed(config: string, [client, second]: readonly AgentClient[]): Target {
  if (second)
    throw new PolyError('invalid_arguments', '--config names one file, which only one client reads.', {
      hint: 'Name at most one client, whose way of writing the file has.',
    });
  const { name = 'file', title = 'file', shape } = client ?? {};
  return { client: name, title, file: resolve(config), ...(shape && { shape }) };
}

export function clientsNamed(
  names: readonly string[],
  among: readonly AgentClient[] = clients,
  otherwise = 'Any other file: --config FILE',
): readonly AgentClient[] {
  const known = among.map(({ name }) => name);
  return [...new Set(names)].map((name) => {
    const found = among.find((client) => client.name === name.toLowerCase());
    if (found) return found;
    throw new PolyError('invalid_arguments', `there is no client "${name}".`, {
      hint: `${didYouMean(name.toLowerCase(), known)} ${otherwise}`.trim(),
    });
  });
}

/** Whether a client is on this machine: its program, or what it leaves behind. */
export function isDetected({ program, signs }: AgentClient, env: Env): boolean {
  return signs.some((sign) => existsSync(expanded(sign, env))) || onPath(program, env) !== undefined;
}

/** Where a program is found by its name. */
export function onPath(program: string, { PATH = '' }: Env): string | undefined {
  return PATH.split(delimiter)
    .filter((folder) => folder.startsWith('/'))
    .map((folder) => join(folder, program))
    .find(isProgram);
}

export function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false; // Not there, or not for us: either way nothing that can be started.
  }
}

/** How poly is started from anywhere. npm puts a project's own programs on PATH only while it runs one of its scripts. */
export function polyCommand(env: Env): string {
  const found = onPath('poly', env);
  const lasting = found !== undefined && !found.includes('/node_modules/');
  return lasting && realpathSync(found) === realpathSync(launcher) ? 'poly' : launcher;
}
