import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TestHub, until } from './test-hub.ts';

describe.each(['pty', 'tmux'] as const)('a %s terminal', (backend) => {
  let hub: TestHub;
  beforeAll(async () => {
    hub = await TestHub.start();
    if (backend === 'tmux') await hub.client.call('session:start', {});
  });
  afterAll(() => hub[Symbol.asyncDispose]());

  const open = async (script: string, more: object = {}): Promise<string> =>
    (await hub.client.call('pane:new', { argv: ['sh', '-c', script], backend, ...more })).id;
  const shows = (paneId: string, text: string) =>
    hub.client.call('pane:wait', { paneId, text, since: 0, timeoutMs: 60_000 });
  const exit = (paneId: string) => hub.event('pane:exited', ({ payload }) => payload.paneId === paneId);

  /** What a program reads of these keys, when it has printed something before. */
  const typed = async (keys: readonly string[], bytes: string, printed = ''): Promise<string> => {
    const count = Buffer.byteLength(bytes);
    const id = await open(
      `stty raw -echo; printf '${printed}ready'; head -c ${count} | od -An -v -tx1 -w200`,
    );
    await shows(id, 'ready');
    await hub.client.call('pane:keys', { paneId: id, keys });
    await exit(id);
    const { lines = [] } = await hub.client.call('pane:read', { paneId: id });
    const hex = /ready\s*(.*)/s.exec(lines.map(({ text }) => text).join(' '))?.[1] ?? '';
    return Buffer.from(hex.replaceAll(/\s/g, ''), 'hex').toString();
  };

  it('gets the bytes of every key', async () => {
    const keys = {
      ...{ Up: '\x1b[A', Left: '\x1b[D', Home: '\x1b[H', F1: '\x1bOP', F5: '\x1b[15~', PageDown: '\x1b[6~' },
      ...{ BSpace: '\x7f', Enter: '\r', 'C-c': '\x03', 'C-Space': '\0', 'M-x': '\x1bx', 'S-Tab': '\x1b[Z' },
      ...{ 'C-Left': '\x1b[1;5D', 'C-S-F5': '\x1b[15;6~', é: 'é' },
    };
    const bytes = Object.values(keys).join('');
    expect(await typed(Object.keys(keys), bytes)).toBe(bytes);
  });

  it('gets arrows as a full-screen program wants them, where it has said so', async () => {
    const bytes = '\x1bOA\x1bOB\x1bOH\x1bOF\x1b[1;5A\x1b[5~q';
    const keys = ['Up', 'Down', 'Home', 'End', 'C-Up', 'PageUp', 'q'];
    expect(await typed(keys, bytes, '\\033[?1h\\033=')).toBe(bytes);
    const usual = '\x1b[A\x1b[H';
    expect(await typed(['Up', 'Home'], usual, '\\033[?1h\\033[?1l')).toBe(usual);
  });

  it('is answered what it asks its terminal, once, also while nobody looks', async () => {
    const read = (count: number): string => `head -c ${count} | od -An -c -w100 | tr -d ' '`;
    const id = await open(
      `stty raw -echo; printf '\\033[6n\\033[c'; ${read(13)}; head -c 1 >/dev/null
       printf '\\033['; sleep 0.1; printf 5n; ${read(4)}; head -c 1 | od -An -c`,
    );
    await shows(id, 'R.*c');
    for (let looks = 0; looks < 2; looks++) await hub.client.call('pane:screen', { paneId: id });
    await hub.client.call('pane:write', { paneId: id, data: 'x' });
    await shows(id, '0n');
    await hub.client.call('pane:write', { paneId: id, data: 'x' });
    await exit(id);
    const { lines = [] } = await hub.client.call('pane:read', { paneId: id });
    const text = lines.map((line) => line.text.trim()).join(' ');
    expect(text).toMatch(/^033\[1;1R033\[\?1;2c +033\[0n +x$/);
  });

  it('is answered what it asks in a flood, in order and once, whoever looks on', async () => {
    const flood = 'yes | head -c 2500000';
    const asked = [
      String.raw`printf '\033[c'`,
      String.raw`printf '\033['`,
      'printf 5n',
      String.raw`printf '\033[c'`,
    ];
    const id = await open(
      `stty raw -echo; printf ready; head -c 1 >/dev/null; ${asked.map((ask) => `${ask}; ${ask.endsWith("['") ? 'sleep 0.1' : flood}`).join('; ')}
       head -c 18 | od -An -c -w100 | tr -d ' '; head -c 1 | od -An -c`,
    );
    await shows(id, 'ready');
    await hub.client.call('pane:screen', { paneId: id });
    await hub.client.call('pane:write', { paneId: id, data: 'x' });
    await shows(id, '033');
    await hub.client.call('pane:screen', { paneId: id });
    await hub.client.call('pane:write', { paneId: id, data: 'x' });
    await exit(id);
    const { lines = [] } = await hub.client.call('pane:read', { paneId: id, tail: 4 });
    expect(lines.map((line) => line.text).join(' ')).toMatch(/033\[\?1;2c033\[0n033\[\?1;2c +x *$/);
  });

  it('takes the name of a key for text when it is written', async () => {
    const id = await open('cat');
    expect(await hub.client.call('pane:write', { paneId: id, data: 'C-c Up', enter: true })).toEqual({
      bytes: 7,
    });
    await shows(id, '^C-c Up$');
    await hub.client.call('pane:close', { paneId: id });
  });

  it('keeps its size when it is given one that is none', async () => {
    const id = await open('cat', { cols: 90, rows: 20 });
    for (const size of [{ cols: 0 }, { rows: -1 }, { cols: 65_535 }, { rows: 1.5 }, { cols: Number.NaN }])
      await expect(
        hub.client.call('pane:resize', { paneId: id, cols: 80, rows: 24, ...size }),
      ).rejects.toMatchObject({ code: 'invalid_arguments' });
    expect(await hub.client.call('pane:screen', { paneId: id })).toMatchObject({ cols: 90, rows: 20 });
    await hub.client.call('pane:close', { paneId: id });
  });

  it('shows a thousand columns, and characters that are wider or narrower than one', async () => {
    const id = await open(`printf '%01000d'; printf '\\r\\n😀中e\\314\\201x'; exec cat`, { cols: 1000 });
    const screen = await until(async () => {
      const seen = await hub.client.call('pane:screen', { paneId: id });
      return seen.cursor.x === 6 && seen;
    });
    expect(screen.lines[0]).toBe('0'.repeat(1000));
    expect(screen.lines[1]?.trimEnd().normalize('NFC')).toBe('😀中éx');
    await hub.client.call('pane:close', { paneId: id });
  });

  it('tells in its notice what it said last, however much it was silent after that', async () => {
    const script = `printf 'started\\n\\033]0;a title\\007\\033[1mall done\\033[0m\\n'; yes '' | head -n 3000`;
    const id = await open(script, { notifyOnExit: true });
    const { notice } = (await exit(id)).payload;
    expect(String(notice)).toContain('\nOutput Lines: 3002\nLast Line: all done\n</pty_exited>');
  });

  it('is never waited for in vain, at whatever moment its text comes', async () => {
    const id = await open('stty -echo; echo ready; while read x; do echo "done $x"; done');
    let { next: since } = await shows(id, '^ready$');
    for (let n = 0; n < 40; n++) {
      const wait = (): Promise<{ readonly reason: string; readonly next: number }> =>
        hub.client.call('pane:wait', { paneId: id, text: `^done ${n}$`, since, timeoutMs: 60_000 });
      const [{ reason, next }] = await Promise.all([
        wait(),
        hub.client.call('pane:write', { paneId: id, data: String(n), enter: true }),
      ]);
      expect(reason).toBe('text');
      since = next;
    }
    await hub.client.call('pane:close', { paneId: id });
  });

  it('keeps the secrets it was given out of every file and every list', async () => {
    const secret = 'canary-of-the-environment';
    const id = await open('echo "$SECRET" | wc -c; exec cat', { env: { SECRET: secret } });
    await shows(id, String(secret.length + 1));
    expect(JSON.stringify(await hub.client.call('pane:list', {}))).not.toContain(secret);
    await hub.client.call('server:backup', {});
    const files = readdirSync(hub.dir, { recursive: true, withFileTypes: true }).filter((one) =>
      one.isFile(),
    );
    expect(files.length).toBeGreaterThan(3);
    for (const { parentPath, name } of files)
      expect(readFileSync(join(parentPath, name)).includes(secret), name).toBe(false);
    await hub.client.call('pane:close', { paneId: id });
  });
});
