import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TestHub, until } from './test-hub.ts';

describe('the event stream', () => {
  let hub: TestHub;
  beforeAll(async () => {
    hub = await TestHub.start();
  });
  afterAll(() => hub[Symbol.asyncDispose]());

  /** Reads until an event of this name comes. */
  const readTo = async (last: string, include: string, since?: number): Promise<readonly string[]> => {
    const names: string[] = [];
    for await (const { event } of hub.events(include, since === undefined ? {} : { since })) {
      names.push(event);
      if (event === last) return names;
    }
    return names;
  };

  it('tells what was asked for, and nothing else', async () => {
    const { seq } = await hub.client.emit('start', {});
    await hub.client.emit('a:one', { n: 1 });
    await hub.client.emit('b:two', { n: 2 });
    await hub.client.emit('ab:three', {});
    await hub.client.emit('end', {});
    expect(await readTo('end', 'a:*,end', seq)).toEqual(['a:one', 'end']);
    expect(await readTo('end', 'b:two, end', seq)).toEqual(['b:two', 'end']);
    expect(await readTo('end', '*', seq)).toEqual(['a:one', 'b:two', 'ab:three', 'end']);
  });

  it('stamps who emitted, and answers with the seq', async () => {
    const { seq } = await hub.client.emit('stamped', { source: 'user:somebody-else', n: [1, { a: null }] });
    const event = await hub.event('stamped');
    expect(event).toMatchObject({
      seq,
      event: 'stamped',
      payload: { source: 'user:somebody-else', n: [1, { a: null }] },
    });
    expect(event.source).toMatch(/^user:/);
    expect(event.source).not.toBe('user:somebody-else');
  });

  it('has no gap and no repeat across a kill of the hub', async () => {
    const { seq: first } = await hub.client.emit('run', { n: 0 });
    await hub.client.emit('run', { n: 1 });
    await hub.kill('SIGKILL');
    await hub.start();
    const numbers: unknown[] = [];
    const reading = (async () => {
      for await (const { seq, payload } of hub.events('run', { since: first - 1 })) {
        numbers.push((payload as { n: number }).n);
        expect(seq).toBeGreaterThanOrEqual(first);
        if (numbers.length === 50) return;
      }
    })();
    for (let n = 2; n < 50; n++) await hub.client.emit('run', { n });
    await reading;
    expect(numbers).toEqual(Array.from({ length: 50 }, (_, n) => n));
  });

  it('misses nothing between what was and what comes, with many writers', async () => {
    const { seq } = await hub.client.emit('storm-begins', {});
    const readers = Array.from({ length: 10 }, async () => {
      const seen: number[] = [];
      for await (const event of hub.events('storm', { since: seq }))
        if (seen.push(event.seq) === 400) return seen;
      return seen;
    });
    const written: number[] = [];
    await Promise.all(
      Array.from({ length: 8 }, async () => {
        for (let n = 0; n < 50; n++) written.push((await hub.client.emit('storm', {})).seq);
      }),
    );
    written.sort((a, b) => a - b);
    for (const seen of await Promise.all(readers)) expect(seen).toEqual(written);
  });

  it('takes so much from a pane and all it started within an hour, and from others what they have to say', async () => {
    await using own = await TestHub.start();
    const parent = own.as(await own.paneToken('parent'));
    const argv = ['sh', '-c', 'echo "$POLY_TOKEN"; exec cat'];
    const { id } = await parent.call('pane:new', { argv });
    const read = () => own.client.call('pane:read', { paneId: id });
    const child = own.as(await until(async () => (await read()).lines?.[0]?.text));
    const stranger = own.as(await own.paneToken('stranger'));
    const large = { text: 'x'.repeat(1_000_000) };
    const refused = (call: Promise<unknown>) =>
      expect(call).rejects.toMatchObject({
        code: 'too_many_requests',
        message: expect.stringMatching(
          /^\w+ and the panes of its family have had 16777216 bytes written down/,
        ),
        hint: expect.stringMatching(/^Wait \d+ seconds, or keep what is large in a file/),
      });
    for (let n = 0; n < 8; n++) {
      await parent.emit('flood', large);
      await child.emit('flood', large);
    }
    await refused(parent.emit('flood', large));
    await refused(child.emit('flood', large));
    await refused(child.call('pane:new', { argv: ['true', 'x'.repeat(500_000)] }));
    await parent.emit('small', {});
    await stranger.emit('flood', large);
    for (let n = 0; n < 17; n++) await own.client.emit('flood', large);
    await child.call('pane:write', { paneId: id, data: 'x' });
    await own.client.call('pane:restart', { paneId: 'parent' });
    const again = () => own.client.call('pane:read', { paneId: 'parent' });
    await refused(own.as(await until(async () => (await again()).lines?.[0]?.text)).emit('flood', large));
  }, 60_000);

  it('counts what the calls of a pane are answered, too, which the log keeps', async () => {
    await using own = await TestHub.start();
    const pane = own.as(await own.paneToken('noter'));
    const set = Object.fromEntries(Array.from({ length: 7 }, (_, n) => [`n${n}`, 'x'.repeat(8192)]));
    await pane.call('pane:update-meta', { paneId: 'noter', set });
    const change = (value: number) => pane.call('pane:set-meta', { paneId: 'noter', key: 'v', value });
    // Each answer has the notes twice, before and after.
    const fill = async () => {
      for (let n = 0; n < 200; n++) await change(n);
    };
    await expect(fill()).rejects.toMatchObject({ code: 'too_many_requests' });
    await own.client.call('pane:set-meta', { paneId: 'noter', key: 'v', value: 'the user is not counted' });
  }, 60_000);

  it('says so when what was asked for is no longer, or not yet, there', async () => {
    const { seq } = await hub.client.emit('here', {});
    for await (const event of hub.events('*', { since: seq + 1000 })) {
      expect(event.event).toBe('reset');
      break;
    }
  });

  it('refuses a place that is none', async () => {
    const headers = { authorization: `Bearer ${hub.token}`, 'last-event-id': 'abc' };
    const { status, body } = await hub.send({ method: 'GET', path: '/events?include=*', headers });
    expect([status, JSON.parse(body).error.code]).toEqual([400, 'invalid_arguments']);
  });

  it('drops readers that do not read, and serves the others', async () => {
    const readers = await Promise.all(Array.from({ length: 30 }, () => stalled()));
    const before = await memory();
    const { seq } = await hub.client.emit('flood-begins', {});
    const healthy = readTo('flood-ends', 'flood,flood-ends', seq);
    const payload = { text: 'x'.repeat(500_000) };
    for (let n = 0; n < 12; n++) await hub.client.emit('flood', payload);
    await hub.client.emit('flood-ends', {});
    expect(await healthy).toHaveLength(13);
    // 30 readers times 6 MB would be 180 MB.
    expect((await memory()) - before).toBeLessThan(120 * 1024 * 1024);
    const { gauges } = await hub.client.call('server:status', {});
    expect(gauges.eventReaders).toBe(0);
    await Promise.all(readers.map((response) => rest(response)));
  });

  it('holds little for readers that do not read what they have missed', async () => {
    const payload = { text: 'x'.repeat(500_000) };
    const { seq } = await hub.client.emit('flood', payload);
    for (let n = 0; n < 15; n++) await hub.client.emit('flood', payload);
    const before = await memory();
    const readers = await Promise.all(Array.from({ length: 30 }, () => stalled(`*&since=${seq - 1}`)));
    // Whoever reads gets all of it meanwhile.
    const { seq: last } = await hub.client.emit('flood-ends', {});
    const missed = await readTo('flood-ends', 'flood,flood-ends', last - 17);
    expect(missed).toHaveLength(17);
    // 30 readers times 8 MB would be 240 MB.
    expect((await memory()) - before).toBeLessThan(120 * 1024 * 1024);
    for (const reader of readers) reader.destroy();
    await until(async () => (await hub.client.call('server:status', {})).gauges.eventReaders === 0);
  });

  it('tells a reader that it drops how to go on', async () => {
    // Whoever does not read that within a second is cut off, as a busy machine may not.
    await until(async () => {
      const reader = await stalled();
      do await hub.client.emit('flood', { text: 'x'.repeat(500_000) });
      while ((await hub.client.call('server:status', {})).gauges.eventReaders !== 0);
      return (await rest(reader)).endsWith('connect again with your Last-Event-ID\n\n');
    });
  });

  /** A reader that does not read. */
  async function stalled(include = '*'): Promise<IncomingMessage> {
    const headers = { host: 'poly', authorization: `Bearer ${hub.token}` };
    const sent = request({ socketPath: hub.socket, path: `/events?include=${include}`, headers });
    sent.end();
    const [response] = (await once(sent, 'response')) as [IncomingMessage];
    return response.pause();
  }

  async function memory(): Promise<number> {
    const { gauges } = await hub.client.call('server:status', {});
    return gauges.rss ?? 0;
  }
});

/** Reads what is left; ends because the hub has closed the stream. */
async function rest(response: IncomingMessage): Promise<string> {
  let text = '';
  try {
    for await (const chunk of response.setEncoding('utf8')) text += chunk;
  } catch {
    // It was cut off in the middle of what it did not read.
  }
  return text;
}
