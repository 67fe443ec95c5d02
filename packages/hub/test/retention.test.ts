import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { SseStreams } from '../src/edges/sse.ts';
import { createEventLog } from '../src/events/event-log.ts';
import { systemClock } from '../src/platform/clock.ts';
import { allScopes } from '../src/registry/caller.ts';
import { openSqliteStore } from '../src/store/sqlite.ts';

it('a stream from before what is kept begins with a reset, and goes on from there', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'poly-retention-'));
  const store = await openSqliteStore({ file: join(directory, 'hub.db') });
  const events = await createEventLog({ store, clock: systemClock });
  const from = { participant: 'user:test' } as const;
  const emit = (event: string) => events.append([{ event, payload: {}, from }]);
  for (const name of ['one', 'two', 'three', 'four']) await emit(name);
  await store.trim({ olderThan: -1, keepAtLeast: 1 });
  const streams = new SseStreams({ view: (_, event) => event, events, heartbeatMs: 20 });
  const caller = { participant: from.participant, scopes: allScopes };
  const server = createServer((request, response) => {
    const after = Number(new URL(request.url ?? '', 'http://x').searchParams.get('since'));
    void streams.open(response, { include: '*', caller, after });
  });
  await once(server.listen(0), 'listening');
  const read = async (since: number, until: string): Promise<string> => {
    const response = await fetch(
      `http://127.0.0.1:${(server.address() as AddressInfo).port}/?since=${since}`,
    );
    let text = '';
    for await (const chunk of response.body ?? []) {
      text += Buffer.from(chunk);
      if (text.includes(until)) return text;
    }
    return text;
  };
  try {
    const old = read(1, 'event: five');
    const recent = read(3, 'event: five');
    // Both are connected once they hear that we are still here.
    await read(4, ': still here');
    await emit('five');
    expect((await old).match(/^(id|event): .*/gm)).toEqual(['id: 4', 'event: reset', 'id: 5', 'event: five']);
    expect((await recent).match(/^event: .*/gm)).toEqual(['event: four', 'event: five']);
  } finally {
    streams.close();
    server.closeAllConnections();
    server.close();
    await store.close();
    rmSync(directory, { recursive: true });
  }
});
