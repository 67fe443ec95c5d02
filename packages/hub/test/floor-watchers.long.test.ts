import { readFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { setTimeout } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { TestHub, until } from './test-hub.ts';
import { leaveHook, openWindow, type Window } from './timeline-ground.ts';

const watchers = 200;
const entries = 300;
/** As much as a stream tells of an entry at most. */
const payload = 'x'.repeat(60_000);

let hub: TestHub;
let window: Window;
const sockets: Socket[] = [];
beforeAll(async () => {
  hub = await TestHub.start();
  window = await openWindow(hub, 'busy', 'crowd');
}, 60_000);
afterAll(async () => {
  for (const socket of sockets) socket.destroy();
  await hub[Symbol.asyncDispose]();
});

/** Asks for a stream of the session, and reads nothing of it. */
async function stall(webSocket: boolean): Promise<Socket> {
  const { session } = window;
  const place = `/projects/crowd/sessions/${session.slug}/${webSocket ? 'ws' : 'events'}?since=0`;
  const upgrade = [
    ...['connection: upgrade', 'upgrade: websocket', 'sec-websocket-version: 13'],
    'sec-websocket-key: AAAAAAAAAAAAAAAAAAAAAA==',
  ];
  const head = [
    `GET ${place} HTTP/1.1`,
    ...['host: poly', `authorization: Bearer ${hub.token}`, ...(webSocket ? upgrade : [])],
  ];
  const socket = connect(hub.socket);
  socket.on('error', () => undefined);
  sockets.push(socket);
  socket.write(`${head.join('\r\n')}\r\n\r\n`);
  await new Promise((resolve) => socket.once('readable', resolve));
  expect(String(socket.read(12))).toBe(webSocket ? 'HTTP/1.1 101' : 'HTTP/1.1 200');
  socket.pause();
  return socket;
}

const residentMb = (): number =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${hub.discovery.pid}/status`, 'utf8'))?.[1]) / 1024;

it.each([
  ['SSE', false],
  ['WebSocket', true],
])(
  'is followed by 200 who read nothing over %s, who hold up nobody and take little',
  async (_, webSocket) => {
    const quiet = residentMb();
    await Promise.all(Array.from({ length: watchers }, () => stall(webSocket)));
    expect(await readers()).toBe(watchers);
    let most = 0;
    const { entries: before } = await hub.client.call('floor:session', {
      session: window.session.session_id,
    });
    for (let number = 0; number < entries; number++) {
      const prompt = `${number} ${payload}`;
      leaveHook(hub, window, `${String(before + number).padStart(10, '0')}-x`, {
        ...{ session_id: 'c', hook_event_name: 'UserPromptSubmit', prompt },
      });
      if (number % 10 === 0) await setTimeout(20);
      most = Math.max(most, residentMb());
    }
    await until(async () => {
      most = Math.max(most, residentMb());
      const shown = await hub.client.call('floor:session', { session: window.session.session_id });
      return shown.entries === before + entries;
    });
    // A reader that reads has all of it, in order.
    const told: number[] = [];
    const read = await fetchAll(before);
    for (const text of read) told.push(Number(/"prompt":"(\d+) /.exec(text)?.[1]));
    expect(told).toEqual(Array.from({ length: entries }, (_, number) => number));
    expect(most - quiet).toBeLessThan(200);
    // Who reads nothing for half a minute is let go.
    await until(async () => (await readers()) === 0);
  },
);

const readers = async (): Promise<number> =>
  (await hub.client.call('server:status', {})).gauges.floorReaders ?? Number.NaN;

async function fetchAll(before: number): Promise<readonly string[]> {
  const { session } = window;
  const found: string[] = [];
  const socket = connect(hub.socket);
  sockets.push(socket);
  socket.write(
    `GET /projects/crowd/sessions/${session.slug}/events?since=0 HTTP/1.0\r\nhost: poly\r\nauthorization: Bearer ${hub.token}\r\n\r\n`,
  );
  let text = '';
  for await (const chunk of socket) {
    text += String(chunk);
    const parts = text.split('\n\n');
    text = parts.pop() ?? '';
    found.push(...parts.filter((part) => part.includes('UserPromptSubmit')));
    if (found.length >= before - 1 + entries) break;
  }
  socket.destroy();
  return found.slice(before - 1);
}
