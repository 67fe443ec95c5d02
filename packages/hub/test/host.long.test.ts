import { type ChildProcess, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { env, size, startTestHost, type TestHost } from './host-setup.ts';

const runs = 500;
const atOnce = 4;

/** The digest of what a program should print and of what was kept, the latter when its end is told. */
const programs = {
  'seq 1 100000': {
    argv: ['seq', '1', '100000'],
    printed: Array.from({ length: 100_000 }, (_, i) => `${i + 1}\r\n`).join(''),
  },
  'an echo of 20 KB': {
    argv: ['sh', '-c', `printf %s ${'x'.repeat(20_000)}`],
    printed: 'x'.repeat(20_000),
  },
} as const;

const digest = (bytes: string | Buffer): string => createHash('sha256').update(bytes).digest('hex');

describe.each([
  ['idle', 0],
  ['with four busy loops beside it', 4],
])('a machine that is %s', (_what, loops) => {
  let t: TestHost;
  let busy: readonly ChildProcess[] = [];
  beforeAll(async () => {
    t = await startTestHost();
    busy = Array.from({ length: loops }, () =>
      spawn(process.execPath, ['-e', 'for (;;);'], { stdio: 'ignore' }),
    );
  });
  afterAll(async () => {
    for (const loop of busy) loop.kill('SIGKILL');
    await t[Symbol.asyncDispose]();
  });

  test.each(Object.entries(programs))(
    `loses no byte of %s in ${runs} runs`,
    async (_name, { argv, printed }) => {
      const wanted = digest(printed);
      const ends = new Map<string, () => void>();
      const told = new Map<string, number>();
      t.host.onExit((id) => {
        told.set(id, (told.get(id) ?? 0) + 1);
        ends.get(id)?.();
      });
      let started = 0;
      const one = async (): Promise<void> => {
        while (started < runs) {
          const id = `${argv[0]}-${loops}-${++started}`;
          const { promise, resolve } = Promise.withResolvers<void>();
          ends.set(id, resolve);
          await t.host.open({ id, argv: [...argv], cwd: '/', env, ...size, maxLines: 1_000_000 });
          await promise;
          const page = await t.host.read(id, { since: 0 });
          expect(page.end, id).toBe(printed.length);
          expect(digest(page.bytes), id).toBe(wanted);
          await t.host.forget(id);
        }
      };
      await Promise.all(Array.from({ length: atOnce }, one));
      expect([...told.values()]).toEqual(Array.from({ length: runs }, () => 1));
    },
  );
});
