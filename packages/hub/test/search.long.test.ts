import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TestHub, until } from './test-hub.ts';

describe('a million lines', () => {
  let hub: TestHub;
  let paneId: string;
  const lines = 1_000_000;

  beforeAll(async () => {
    hub = await TestHub.start({
      config: '[output]\npane_mb = 256\n',
      env: { PTY_MAX_BUFFER_LINES: '10000000' },
    });
    const script = `seq -f 'line %.0f of a flood that goes on and on and on, and on, without an end' 1 ${lines}`;
    const { id } = await hub.client.call('pane:new', { argv: ['sh', '-c', script], backend: 'pty' });
    paneId = id;
    await hub.event('pane:exited', ({ payload }) => payload.paneId === id);
  });
  afterAll(() => hub[Symbol.asyncDispose]());

  it('are all there, and each is found', async () => {
    for (const n of [1, 777_777, lines]) {
      const byPattern = await hub.client.call('pane:search', { paneId, pattern: `^line ${n} of` });
      expect(byPattern.matches).toMatchObject([{ n }]);
      const byText = await hub.client.call('pane:search', { paneId, pattern: `line ${n} of`, literal: true });
      expect(byText.matches).toMatchObject([{ n }]);
    }
  });

  it('are paged through to the first', async () => {
    const found: number[] = [];
    for (let before = lines + 1, more = true; more; before = found.at(-1) ?? 0) {
      const page = await hub.client.call('pane:search', { paneId, pattern: '99 of', before, limit: 999 });
      found.push(...page.matches.map(({ n }) => n));
      more = page.more;
    }
    expect(found).toEqual(Array.from({ length: lines / 100 }, (_, index) => lines - 1 - index * 100));
  });

  it('hold nobody up while they are searched', async () => {
    const { id: other } = await hub.client.call('pane:new', { argv: ['cat'], backend: 'pty' });
    const searches = Array.from({ length: 12 }, (_, index) =>
      hub.client.call('pane:search', { paneId, pattern: `(x+x+)+y${index}|nothing like it ${index}` }),
    );
    await hub.client.call('pane:write', { paneId: other, data: 'heard', enter: true });
    await until(async () => (await hub.client.call('pane:read', { paneId: other })).lines?.length);
    for (const answer of await Promise.all(searches)) expect(answer.matches).toEqual([]);
    expect((await hub.client.call('pane:search', { paneId, pattern: 'line 5 of' })).complete).toBe(true);
  });

  it('of a progress bar are one', async () => {
    const script = 'BEGIN { for (i = 1; i <= 1000000; i++) printf "\\r%d", i; print "" }';
    const { id } = await hub.client.call('pane:new', { argv: ['awk', script], backend: 'pty' });
    await hub.event('pane:exited', ({ payload }) => payload.paneId === id);
    const { lines: shown = [] } = await hub.client.call('pane:read', { paneId: id });
    expect(shown.map(({ text }) => text)).toEqual(['1000000']);
    const { next, retainedFrom } = await hub.client.call('pane:read', { paneId: id, view: 'raw', tail: 0 });
    expect(next - retainedFrom).toBe(5_888_896 + 1_000_000 + 2);
  });
});
