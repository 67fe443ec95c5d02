import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, it, vi } from 'vitest';
import { WebSocket } from 'ws';
import { WebSocketEdge, type WebSocketEdgeOptions } from './websocket.ts';

afterEach(() => vi.useRealTimers());

it('ends a connection whose other side has gone without a word, and keeps one that is only silent', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  const panes = {
    ...{ list: async () => [], onUpdate: () => () => undefined },
    ...{ look: () => undefined, leave: async () => undefined },
  };
  const log = { info: () => undefined };
  const credentials = { holds: () => true };
  const edge = new WebSocketEdge({ panes, log, credentials } as unknown as WebSocketEdgeOptions);
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  edge.serve(server, () => ({ participant: 'user:test', scopes: new Set() }) as never);
  const address = `ws://127.0.0.1:${(server.address() as AddressInfo).port}/ws`;
  const gone = new WebSocket(address, { autoPong: false });
  const silent = new WebSocket(address);
  await Promise.all([once(gone, 'message'), once(silent, 'message')]);
  const ended = once(gone, 'close');
  for (let beats = 0; beats < 5; beats++) {
    const asked = once(silent, 'ping');
    vi.advanceTimersByTime(15_000);
    await asked;
    // Answered behind the pong, which has come by then.
    silent.send('{"type":"session_list"}');
    await once(silent, 'message');
    if (beats === 1) await ended;
  }
  expect(silent.readyState).toBe(WebSocket.OPEN);
  silent.terminate();
  edge.close();
  server.close();
});
