import type { PaneReadParams, PaneReadResult } from '@polyphony/protocol';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TestHub, until } from './test-hub.ts';

/** Takes for ever on a long line of a's. */
const catastrophic = '(a+)+$';

describe.each(['pty', 'tmux'] as const)('what %s panes printed', (backend) => {
  let hub: TestHub;

  beforeAll(async () => {
    hub = await TestHub.start({ env: { PTY_MAX_BUFFER_LINES: '20000' } });
    if (backend === 'tmux') await hub.client.call('session:start', {});
  });
  afterAll(() => hub[Symbol.asyncDispose]());

  const open = (script: string) =>
    hub.client.call('pane:new', { argv: ['sh', '-c', script], backend, cols: 200 });
  const ended = async (script: string): Promise<string> => {
    const { id } = await open(script);
    await hub.event('pane:exited', ({ payload }) => payload.paneId === id);
    return id;
  };
  const read = (paneId: string, more: Omit<PaneReadParams, 'paneId'> = {}): Promise<PaneReadResult> =>
    hub.client.call('pane:read', { paneId, ...more });
  const raw = async (paneId: string): Promise<Buffer> =>
    Buffer.from((await read(paneId, { view: 'raw' })).data ?? '', 'base64');
  const search = (paneId: string, pattern: string, more: object = {}) =>
    hub.client.call('pane:search', { paneId, pattern, ...more });
  const texts = ({ lines = [] }: PaneReadResult): string[] => lines.map(({ text }) => text);

  it('has one line for each, however it came, and the last one without its newline', async () => {
    const id = await ended(
      `stty -onlcr; printf 'in'; sleep 0.1; printf ' two\\ncrlf\\r\\n\\r\\nabc\\rX\\n'; sleep 0.1; printf 'par'; sleep 0.1; printf tial`,
    );
    expect(await read(id)).toMatchObject({
      lines: [
        { n: 1, text: 'in two' },
        { n: 2, text: 'crlf' },
        { n: 3, text: '' },
        { n: 4, text: 'Xbc' },
        { n: 5, text: 'partial' },
      ],
      more: false,
    });
    expect((await raw(id)).toString()).toBe('in two\ncrlf\r\n\r\nabc\rX\npartial');
    expect((await search(id, '^$')).matches).toEqual([{ n: 3, text: '' }]);
  });

  it('is read by line, by byte, from the end, and past it', async () => {
    const id = await ended('seq 1 10');
    expect(texts(await read(id, { fromLine: 4, limit: 2 }))).toEqual(['4', '5']);
    const first = await read(id, { since: 0, limit: 3 });
    expect(first).toMatchObject({ from: 0, next: 9, more: true, truncated: false });
    expect(texts(await read(id, { since: first.next, limit: 1 }))).toEqual(['4']);
    expect(texts(await read(id, { tail: 2 }))).toEqual(['9', '10']);
    expect(await read(id, { tail: 3, limit: 1 })).toMatchObject({ lines: [{ n: 8, text: '8' }], more: true });
    expect(await read(id, { tail: 0 })).toMatchObject({ lines: [], from: 31, next: 31, more: false });
    expect(texts(await read(id, { limit: 100_000 }))).toHaveLength(10);
    for (const past of [{ since: 1_000 }, { fromLine: 11 }])
      expect(await read(id, past)).toMatchObject({ lines: [], from: 31, next: 31, more: false });
  });

  it.each([
    [{ since: -1 }],
    [{ tail: -1 }],
    [{ fromLine: 0 }],
    [{ limit: 0 }],
    [{ limit: 100_001 }],
    [{ since: Number.NaN }],
    [{ tail: 1.5 }],
    [{ tail: 1, since: 1 }],
    [{ since: '1' }],
  ])('is not read by %j', async (asked) => {
    const id = await ended('true');
    await expect(read(id, asked as object)).rejects.toMatchObject({ code: 'invalid_arguments' });
  });

  it('is read page by page where it is one line of 10 MB without an end', async () => {
    const size = 10_000_000;
    const id = await ended(`head -c ${size} /dev/zero | tr '\\0' x; printf end`);
    let text = '';
    let pages = 0;
    for (let since = 0, more = true; more; pages++) {
      const page = await read(id, { since });
      expect(page).toMatchObject({ from: since, truncated: false, retainedFrom: 0 });
      text += texts(page).join('');
      ({ next: since, more } = page);
    }
    expect(pages).toBeGreaterThan(1);
    expect([text.length, text.slice(-4)]).toEqual([size + 3, 'xend']);
    expect((await search(id, 'xend$')).matches).toHaveLength(1);
  });

  it('is one line of a progress bar, and every byte of it in the raw view', async () => {
    const id = await ended(
      `awk 'BEGIN { for (i = 0; i < 4000; i++) printf "\\r%d of 4000", i; printf "\\r4000 of 4000\\n" }'`,
    );
    expect(await read(id)).toMatchObject({ lines: [{ n: 1, text: '4000 of 4000' }] });
    expect((await raw(id)).toString().split('\r')).toHaveLength(4003);
    expect((await search(id, '^4000 of')).matches).toHaveLength(1);
    expect((await search(id, '\\r')).matches).toEqual([]);
  });

  it('keeps its numbers when the oldest is forgotten, and says what is still there', async () => {
    const id = await ended('seq 1 30000');
    const { lines, from, retainedFrom, truncated } = await read(id, { fromLine: 1, limit: 1 });
    expect({ lines, truncated }).toEqual({ lines: [{ n: 10_001, text: '10001' }], truncated: true });
    expect(from).toBe(retainedFrom);
    expect(await read(id, { since: from, limit: 1 })).toMatchObject({ truncated: false });
    expect(texts(await read(id, { fromLine: 29_999 }))).toEqual(['29999', '30000']);
    expect((await search(id, '^(9999|10001)$')).matches).toEqual([{ n: 10_001, text: '10001' }]);
  });

  it('is readable with invalid UTF-8, and its bytes are as they were', async () => {
    const id = await ended(`printf 'ok \\303\\244 \\377\\376 bad\\n\\342\\202'`);
    expect(texts(await read(id))).toEqual(['ok ä \ufffd\ufffd bad', '\ufffd']);
    const bytes = [...Buffer.from('ok ä '), 0xff, 0xfe, ...Buffer.from(' bad\r\n'), 0xe2, 0x82];
    expect([...(await raw(id))]).toEqual(bytes);
    expect((await search(id, 'ä . bad')).matches).toEqual([]);
    expect((await search(id, 'ä .{2} bad$')).matches).toHaveLength(1);
  });

  it('is a character or a sequence only when that has come whole', async () => {
    const { id } = await open(
      `stty -echo; printf 'a\\303'; read _; printf '\\244\\033[3'; read _; printf '1mred'; read _`,
    );
    const upTo = (bytes: number) => until(async () => (await raw(id)).length === bytes);
    await upTo(2);
    const first = await read(id, { since: 0 });
    expect(first).toMatchObject({ lines: [{ text: 'a' }], next: 1, more: false });
    await hub.client.call('pane:write', { paneId: id, data: '', enter: true });
    await upTo(6);
    const second = await read(id, { since: first.next });
    expect(second).toMatchObject({ lines: [{ n: 1, text: 'ä' }], next: 3, more: false });
    await hub.client.call('pane:write', { paneId: id, data: '', enter: true });
    await upTo(11);
    expect(await read(id, { since: second.next })).toMatchObject({
      lines: [{ n: 1, text: 'red' }],
      next: 11,
    });
    await hub.client.call('pane:close', { paneId: id });
  });

  it('is found by what people read, coloured or not, the newest first', async () => {
    const id = await ended(
      `printf '\\033[1;31mError\\033[0m: disk full\\nall fine\\n\\033]0;error in the title\\007error: again\\nERROR\\n'`,
    );
    const found = async (pattern: string, more?: object) =>
      (await search(id, pattern, more)).matches.map(({ n }) => n);
    expect(await found('^Error: disk full$')).toEqual([1]);
    expect(await found('error', { ignoreCase: true })).toEqual([4, 3, 1]);
    expect(await found('error: ', { literal: true })).toEqual([3]);
    expect(await found('ERROR', { literal: true, ignoreCase: true })).toEqual([4, 3, 1]);
    expect(await found('(?<=disk )full')).toEqual([1]);
    expect(await found('\\p{Lu}{5}')).toEqual([4]);
    expect(await found('title')).toEqual([]);
    expect(await found('.', { literal: true })).toEqual([]);
  });

  it('is paged through from the end, and stays what it was while more comes', async () => {
    const { id } = await open('seq 1 500; read _; seq 501 9000; read _');
    await until(async () => (await search(id, '^500$')).matches.length === 1);
    const newest = await search(id, '7$', { limit: 20 });
    expect(newest).toMatchObject({ more: true, complete: true });
    await hub.client.call('pane:write', { paneId: id, data: '', enter: true });
    await until(async () => (await search(id, '^9000$')).matches.length === 1);
    const older = await search(id, '7$', { limit: 100, before: newest.matches.at(-1)?.n });
    expect(older).toMatchObject({ more: false, complete: true });
    expect([...newest.matches, ...older.matches].map(({ n }) => n)).toEqual(
      Array.from({ length: 50 }, (_, index) => 497 - index * 10),
    );
    await hub.client.call('pane:close', { paneId: id });
  });

  it('is not searched with something that is no regular expression, and why', async () => {
    const id = await ended('echo x');
    for (const [pattern, why] of [
      ['[', 'unterminated character class'],
      ['a{2,1}', 'numbers out of order'],
      ['*', 'nothing to repeat'],
      ['\\p{Nope}', 'invalid property name'],
    ] as const) {
      await expect(search(id, pattern)).rejects.toMatchObject({
        code: 'invalid_arguments',
        message: expect.stringContaining(`"${pattern}" is no regular expression: ${why}`),
      });
    }
    for (const asked of [{ limit: 0 }, { before: 0 }, { before: -3 }, { pattern: '' }])
      await expect(search(id, 'x', asked)).rejects.toMatchObject({ code: 'invalid_arguments' });
    for (const pattern of ['(?:foo)*x(?:baz)*', '(x|y){1,}', '((x)+)+'])
      expect((await search(id, pattern)).matches).toHaveLength(1);
    await expect(search('nobody', 'x')).rejects.toMatchObject({ code: 'not_found' });
  });

  it('is searched before one that is searched already, however many wait there', async () => {
    const id = await ended(`head -c 60 /dev/zero | tr '\\0' a; echo '!'`);
    const other = await ended('echo needle');
    const storm = Array.from({ length: 40 }, () =>
      search(id, '^(a+)+$').then(
        () => 'cut',
        ({ code }) => code,
      ),
    );
    expect(await search(other, 'needle')).toMatchObject({ matches: [{ text: 'needle' }], complete: true });
    expect(new Set(await Promise.all(storm))).toEqual(new Set(['cut', 'too_many_requests']));
  }, 60_000);

  it('is given up to a pattern that takes for ever, while everything else goes on', async () => {
    const id = await ended(`head -c 60000 /dev/zero | tr '\\0' a; echo '!'; echo newest aab!; echo aa`);
    const { id: other } = await open('exec cat');
    const slow = search(id, catastrophic);
    await hub.client.call('pane:write', { paneId: other, data: 'meanwhile', enter: true });
    await until(async () => texts(await read(other)).includes('meanwhile'));
    expect((await search(other, 'meanwhile')).matches.length).toBeGreaterThan(0);
    expect(await slow).toEqual({ matches: [{ n: 3, text: 'aa' }], more: false, complete: false });
    expect(await search(id, 'aab!')).toMatchObject({ matches: [{ text: 'newest aab!' }], complete: true });
    await hub.client.call('pane:close', { paneId: other });
  });
});

describe('searches of a pane and all it started', () => {
  it('have the share of one, also where those in between have gone', async () => {
    await using hub = await TestHub.start();
    const root = hub.as(await hub.paneToken('root'));
    const children = await Promise.all(
      Array.from({ length: 10 }, async () => {
        const argv = [
          'sh',
          '-c',
          `echo "$POLY_TOKEN"; head -c 60 /dev/zero | tr '\\0' a; echo '!'; exec cat`,
        ];
        const { id: between } = await root.call('pane:new', { argv, backend: 'pty' });
        const token = await tokenOf(between);
        const { id } = await hub.as(token).call('pane:new', { argv, backend: 'pty' });
        const child = hub.as(await tokenOf(id));
        await root.call('pane:close', { paneId: between });
        return { child, id };
      }),
    );
    const { id: other } = await hub.client.call('pane:new', { argv: ['echo', 'needle'], backend: 'pty' });
    await hub.event('pane:exited', ({ payload }) => payload.paneId === other);
    const full = Promise.withResolvers<string>();
    const storm = children.flatMap(({ child, id }) =>
      Array.from({ length: 16 }, () =>
        child.call('pane:search', { paneId: id, pattern: '^(a+)+$' }).catch(({ code }) => full.resolve(code)),
      ),
    );
    expect(await full.promise).toBe('too_many_requests');
    expect(await hub.client.call('pane:search', { paneId: other, pattern: 'needle' })).toMatchObject({
      matches: [{ text: 'needle' }],
      complete: true,
    });
    await Promise.all(storm);

    async function tokenOf(paneId: string): Promise<string> {
      const text = async () => (await hub.client.call('pane:read', { paneId })).lines ?? [];
      const lines = await until(async () => (await text()).some(({ text }) => text.endsWith('!')) && text());
      return lines[0]?.text ?? '';
    }
  }, 60_000);
});

describe('all output together', () => {
  it('is kept within the configured size, at the cost of the pane used longest ago', async () => {
    await using hub = await TestHub.start({
      config: '[output]\npane_mb = 2\nall_mb = 2\n',
      env: { PTY_MAX_BUFFER_LINES: '1000000' },
    });
    const fill = async (): Promise<string> => {
      const { id } = await hub.client.call('pane:new', { argv: ['seq', '1', '200000'], backend: 'pty' });
      await hub.event('pane:exited', ({ payload }) => payload.paneId === id);
      return id;
    };
    const kept = async (paneId: string): Promise<number> => {
      const { next, retainedFrom } = await hub.client.call('pane:read', { paneId, tail: 0 });
      return next - retainedFrom;
    };
    const first = await fill();
    const before = await kept(first);
    const second = await fill();
    expect(await kept(second)).toBe(before);
    expect(await kept(first)).toBeLessThan(before);
    expect(await hub.client.call('pane:read', { paneId: first, tail: 1 })).toMatchObject({
      lines: [{ n: 200_000, text: '200000' }],
    });
  });

  it('is given up by a pane that starts many, before any of another', async () => {
    await using hub = await TestHub.start({
      config: '[output]\npane_mb = 2\nall_mb = 4\n',
      env: { PTY_MAX_BUFFER_LINES: '1000000' },
    });
    const fill = async (client: TestHub['client']): Promise<string> => {
      const { id } = await client.call('pane:new', { argv: ['seq', '1', '200000'], backend: 'pty' });
      await hub.event('pane:exited', ({ payload }) => payload.paneId === id);
      return id;
    };
    const keptFrom = async (paneId: string): Promise<number> =>
      (await hub.client.call('pane:read', { paneId, tail: 0 })).retainedFrom;
    const own = await fill(hub.client);
    const agent = hub.as(await hub.paneToken('agent'));
    const many: string[] = [];
    for (let n = 0; n < 4; n++) many.push(await fill(agent));
    expect(await keptFrom(own)).toBe(0);
    expect(await keptFrom(many[0] ?? '')).toBeGreaterThan(0);
    expect(await keptFrom(many[3] ?? '')).toBe(0);
  });
});
