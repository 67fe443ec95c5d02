import { spawn } from 'node:child_process';
import { PolyError } from '@polyphony/protocol';
import type { Env } from './env.ts';
import { openDoor } from './find-hub.ts';
import { send } from './socket-http.ts';

const openers: Readonly<Record<string, string>> = { darwin: 'open', win32: 'explorer' };

/** A ticket that signs a browser in once. */
export async function ticketFor(env: Env): Promise<string> {
  const { socket, token } = await openDoor(env);
  const { status, body } = await send(socket, {
    method: 'POST',
    path: '/tickets',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: '{"kind":"ui"}',
  });
  const answer = JSON.parse(body) as { ticket: string; error: Parameters<typeof PolyError.from>[0] };
  if (status !== 200) throw PolyError.from(answer.error);
  return answer.ticket;
}

/** Asks the desktop to show an address; where there is none, the printed one has to do. */
export async function openInBrowser(address: string): Promise<void> {
  const child = spawn(openers[process.platform] ?? 'xdg-open', [address], {
    detached: true,
    stdio: 'ignore',
  });
  await new Promise<void>((resolve) => {
    child.once('error', () => resolve());
    child.once('spawn', resolve);
  });
  child.unref();
}
