import type { Engine } from '../../engine.ts';
import { TmuxError } from '../../errors.ts';
import { linesOf } from '../../operation/reply.ts';
import type { SessionId } from '../../operation/target.ts';
import { atLeast, oldestTmux, parseVersion } from '../../operation/version.ts';

/**
 * A session a control client may sit in without anybody noticing: being attached must neither keep it alive
 * (exit-unattached, destroy-unattached) nor destroy it by leaving. Null when there is none, or no server;
 * with `wanted`, when that one is gone or is not quiet.
 */
export async function quietSession(processes: Engine, wanted?: SessionId): Promise<SessionId | null> {
  const format = '#{session_id} #{destroy-unattached} #{exit-unattached} #{version}';
  const reply = await processes.run({ argv: ['list-sessions', '-F', format], effect: 'read' });
  const isOff = (value: string | undefined): boolean => value === 'off' || value === '0';
  for (const line of linesOf(reply.stdout)) {
    const [id, destroy, exit, version = ''] = line.split(' ');
    requireControlClients(version);
    if (id && isOff(destroy) && isOff(exit) && (wanted ?? id) === id) return id as SessionId;
  }
  return null;
}

/** An older tmux has no flags for a client, and each of ours would resize what it sits in. */
function requireControlClients(version: string): void {
  if (atLeast(parseVersion(version), oldestTmux)) return;
  const message = `A connection needs tmux ${oldestTmux}; this server is ${version}.`;
  throw new TmuxError('version_unsupported', message, { since: oldestTmux });
}
