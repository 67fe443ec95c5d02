import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { flagIn } from '../../platform/flag-in.ts';
import { isLocal } from '../../platform/is-local.ts';
import { environmentOf } from '../processes.ts';
import { followCodexServer } from './codex-server.ts';
import { codexFolder } from './codex-terminals.ts';
import type { NativeSource } from './native-state.ts';

export interface NativePane {
  readonly vendor: string;
  /** The command line that it really has. */
  readonly argv: readonly string[];
  readonly pid: number;
  readonly cwd: string;
  readonly startedAt: number;
}

/** The protocol of an agent, where it has one that is open to others. */
export function nativeSource({ vendor, argv, pid, cwd, startedAt }: NativePane): NativeSource | undefined {
  if (vendor !== 'codex' || cwd === '') return undefined;
  const env = environmentOf(pid);
  const url = codexAddress(argv, env);
  if (url === undefined) return undefined;
  const named = flagIn(argv, '--remote-auth-token-env');
  return followCodexServer({ url, token: named && env[named], cwd: codexFolder(argv, cwd), startedAt });
}

/** Where the app-server of a Codex listens: where it was told to, or else its shared daemon, should one run. */
function codexAddress(argv: readonly string[], env: Readonly<Record<string, string>>): string | undefined {
  const own = join(env.CODEX_HOME || join(env.HOME || homedir(), '.codex'), 'app-server-control');
  const shared = join(own, 'app-server-control.sock');
  const remote = flagIn(argv, '--remote');
  if (remote !== undefined && !remote.startsWith('unix://')) return isLocal(remote) ? remote : undefined;
  const socket = remote?.slice('unix://'.length) || shared;
  // Where a Codex shares its daemon, that ran before it.
  if (remote === undefined && (argv.includes('--no-daemon') || !existsSync(shared))) return undefined;
  return `ws+unix://${socket}:/`;
}
