import { realpathSync } from 'node:fs';
import { join } from 'node:path';
import type { ConnectionOptions } from '../engine.ts';

/**
 * The path of a server's socket, found the way tmux finds it: -S, else -L, else the server of $TMUX, else the default
 * one of this user.
 *
 * @example socketPathOf({ socketName: 'work' }, {}, 1000) // '/tmp/tmux-1000/work'
 */
export function socketPathOf(
  options: Pick<ConnectionOptions, 'socketPath' | 'socketName'>,
  env: NodeJS.ProcessEnv = process.env,
  uid: number = process.getuid?.() ?? 0,
): string {
  const { socketPath, socketName } = options;
  if (socketPath) return socketPath;
  const inherited = env.TMUX?.split(',')[0];
  if (!socketName && inherited) return inherited;
  return join(socketFolder(env.TMUX_TMPDIR), `tmux-${uid}`, socketName || 'default');
}

/** tmux takes the first of these folders that exists, with its links resolved: on macOS /tmp is /private/tmp. */
function socketFolder(chosen: string | undefined): string {
  for (const folder of [chosen, '/tmp']) {
    if (!folder) continue;
    try {
      return realpathSync(folder);
    } catch {
      // tmux passes over a folder that cannot be resolved, and so do we.
    }
  }
  return '/tmp';
}
