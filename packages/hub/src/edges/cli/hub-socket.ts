import { connect } from 'node:net';
import { WebSocket } from 'ws';

/** A WebSocket to the hub, behind a door that `openDoor` found. */
export function hubSocket(path: string, { socket, token }: { socket: string; token: string }): WebSocket {
  return new WebSocket(`ws://poly${path}`, {
    createConnection: () => connect(socket),
    headers: { authorization: `Bearer ${token}` },
    perMessageDeflate: false,
  });
}
