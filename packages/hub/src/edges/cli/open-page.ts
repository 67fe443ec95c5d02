import { spawn } from 'node:child_process';
import { type Client, PolyError } from '@polyphony/protocol';
import type { Call } from './command.ts';
import type { Env } from './env.ts';

/** Lets the user's browser in: the ticket stands behind the #, which no browser sends anywhere. */
export async function openPage({ flags, hub, env, out, json }: Call): Promise<void> {
  const { ticket, expiresAt } = await hub.ticket('ui');
  const address = await pageAddress(hub, ticket);
  const program = flags.print ? undefined : openerOf(env);
  const opened = program !== undefined && (await starts(program, address, env));
  if (json) return out.json({ address, expiresAt, opened });
  out.line(address);
  if (!opened && !flags.print)
    out.note('poly: there is no display here; open this address within 30 seconds.');
}

/** Where the page lets somebody in with a ticket. */
export async function pageAddress(hub: Client, ticket: string): Promise<string> {
  const { url } = await hub.call('server:status', {});
  if (url === undefined)
    throw new PolyError('unavailable', 'the hub listens on its socket only, which no browser can reach.', {
      hint: 'Start it with TCP: poly server restart (panes live on)',
    });
  return `${url}/#ticket=${ticket}`;
}

/** What opens an address here; nothing where there is no display to open it on. */
function openerOf(env: Env): string | undefined {
  if (process.platform === 'darwin') return env.SSH_CONNECTION ? undefined : 'open';
  return env.DISPLAY || env.WAYLAND_DISPLAY ? 'xdg-open' : undefined;
}

function starts(program: string, address: string, env: Env): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const child = spawn(program, [address], { detached: true, stdio: 'ignore', env });
  child.once('error', () => resolve(false)); // Not installed: the address is printed all the same.
  child.once('spawn', () => {
    child.unref();
    resolve(true);
  });
  return promise;
}
