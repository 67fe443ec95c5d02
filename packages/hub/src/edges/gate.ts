import type { IncomingMessage } from 'node:http';
import { PolyError } from '@polyphony/protocol';

/** Which door a request came through. */
export interface Door {
  readonly kind: 'socket' | 'tcp';
  /** The exact `Host` headers this door answers to. */
  readonly hosts: ReadonlySet<string>;
  /** The exact `Origin` headers a browser may send; a socket has none. */
  readonly origins: ReadonlySet<string>;
}

/** The socket cannot be reached by a browser, and clients name it as they like best. */
export const socketDoor: Door = {
  kind: 'socket',
  hosts: new Set(['poly', 'localhost']),
  origins: new Set(),
};

export function urlOf(hostname: string, port: number): string {
  return `http://${hostname.includes(':') ? `[${hostname}]` : hostname}:${port}`;
}

export function tcpDoor(port: number): Door {
  const names = ['127.0.0.1', 'localhost', '[::1]'];
  // Clients leave out the port that http has by itself.
  const hosts = names.flatMap((name) => [`${name}:${port}`, ...(port === 80 ? [name] : [])]);
  return { kind: 'tcp', hosts: new Set(hosts), origins: new Set(hosts.map((host) => `http://${host}`)) };
}

/**
 * Stands before any routing, for HTTP, SSE and WebSocket alike. A foreign page that reaches us by name or by
 * address has the wrong Host or the wrong Origin; both must match exactly, since prefixes have been got around.
 */
export function passGate(request: IncomingMessage, door: Door): void {
  const hosts = valuesOf(request, 'host');
  const [host = ''] = hosts;
  if (hosts.length !== 1 || !door.hosts.has(host)) {
    throw new PolyError('forbidden', `the Host "${host.slice(0, 128)}" is not one of this hub's.`, {
      hint: 'Use the address that poly server status shows.',
    });
  }
  for (const origin of valuesOf(request, 'origin')) {
    if (door.origins.has(origin)) continue;
    throw new PolyError('forbidden', `a page of "${origin.slice(0, 128)}" may not talk to this hub.`);
  }
  if (request.headers['sec-fetch-site'] === 'cross-site') {
    throw new PolyError('forbidden', 'a page of another site may not talk to this hub.');
  }
}

/** Every value of a header, as sent: Node itself keeps only the first Host of several. */
function valuesOf({ rawHeaders }: IncomingMessage, name: string): readonly string[] {
  return rawHeaders.filter((_, index) => index % 2 === 1 && rawHeaders[index - 1]?.toLowerCase() === name);
}
