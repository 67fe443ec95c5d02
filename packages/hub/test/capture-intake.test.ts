import { execFile, spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Intake, type IntakeOptions } from '../src/capture/intake.ts';
import { type Entry, Journal, Unreadable } from '../src/capture/journal.ts';
import { understandAll } from '../src/capture/understanding.ts';
import { createEventLog } from '../src/events/event-log.ts';
import { systemClock } from '../src/platform/clock.ts';
import { openSqliteStore } from '../src/store/sqlite.ts';
import { prompt, script } from './capture-ground.ts';
import { until } from './test-hub.ts';

describe('the intake', () => {
  let home: string;
  let journal: string;
  const ends: (() => unknown)[] = [];
  beforeEach(() => {
    home = mkdtempSync(join(tmpdir(), 'poly-intake-'));
    journal = join(home, 'journal');
  });
  afterEach(async () => {
    for (const end of ends.splice(0).reverse()) await end();
    rmSync(home, { recursive: true });
  });

  /** An intake that never looks by itself; answers the sessions of what it has taken so far. */
  async function open(more: Partial<IntakeOptions> = {}): Promise<{ intake: Intake; taken: string[] }> {
    const store = await openSqliteStore({ file: join(home, 'hub.db') });
    ends.push(() => store.close());
    const taken: string[] = [];
    const log = { info: () => undefined, warn: () => undefined, error: () => undefined };
    const intake = new Intake({
      ...{ store, clock: systemClock, hub: 'user:me', lookEveryMs: 2 ** 31 - 1 },
      log: log as unknown as IntakeOptions['log'],
      events: await createEventLog({ store, clock: systemClock }),
      journal: new Journal(journal),
      paneOf: () => undefined,
      adoptedOf: () => undefined,
      onTaken: ({ normalised: { kind, session } }) => void taken.push(session ?? kind),
      ...more,
    });
    ends.push(() => intake.close());
    return { intake, taken };
  }

  const capture = (session: string): void => {
    const { status } = spawnSync('sh', [script, 'claude'], {
      env: { PATH: process.env.PATH, POLY_HOME: home },
      input: prompt(session, 'x'),
    });
    expect(status).toBe(0);
  };

  it.each([
    ['the journal is deleted', () => rmSync(journal, { recursive: true })],
    ['the journal is moved away', () => renameSync(journal, join(home, 'away'))],
    ['its folder of arrivals is deleted', () => rmSync(join(journal, 'new'), { recursive: true })],
    [
      'its folder of arrivals is another at once',
      () => {
        mkdirSync(join(home, 'other'), { mode: 0o700 });
        renameSync(join(journal, 'new'), join(home, 'old'));
        renameSync(join(home, 'other'), join(journal, 'new'));
      },
    ],
  ])('hears of every event although %s, again and again', async (_, replace) => {
    const { taken } = await open();
    for (const round of [1, 2, 3]) {
      replace();
      for (const leftover of ['away', 'old']) rmSync(join(home, leftover), { recursive: true, force: true });
      capture(`first ${round}`);
      capture(`second ${round}`);
      await until(() => taken.includes(`second ${round}`));
    }
    expect(taken).toEqual([1, 2, 3].flatMap((round) => [`first ${round}`, `second ${round}`]));
  });

  it.each([
    ['a pipe', (path: string) => void spawnSync('mkfifo', [path])],
    ['a folder', (path: string) => mkdirSync(path)],
    ['a link', (path: string) => symlinkSync(join(home, 'mine'), path)],
    ['a link to nowhere', (path: string) => symlinkSync(join(home, 'none'), path)],
  ])(
    'neither waits for nor follows what stands in the place of the note of what was missed: %s',
    async (_, make) => {
      writeFileSync(join(home, 'mine'), 'mine');
      new Journal(journal);
      make(join(journal, 'missed'));
      const full =
        'mount -t tmpfs -o size=4k,nr_inodes=3 tmpfs "$POLY_HOME/journal/tmp"; mount --bind "$POLY_HOME/journal/tmp" "$POLY_HOME/journal/new"; cat /dev/zero >"$POLY_HOME/journal/tmp/full"; touch "$POLY_HOME/journal/tmp/last"';
      const hook = `{ ${full}; } 2>/dev/null; printf x | sh '${script}' claude`;
      const env = { PATH: process.env.PATH ?? '', POLY_HOME: home };
      const ran = await promisify(execFile)('unshare', ['-rm', 'sh', '-c', hook], { env });
      expect(`${ran.stdout}${ran.stderr}`).toBe('');
      const { taken } = await open();
      capture('later');
      await until(() => taken.includes('later'));
      expect(readFileSync(join(home, 'mine'), 'utf8')).toBe('mine');
      expect(existsSync(join(home, 'none'))).toBe(false);
      expect(readdirSync(join(journal, 'dead'))).toEqual(['missed']);
      expect(readFileSync(join(journal, 'missed'), 'utf8')).toBe('0');
    },
  );

  it('lets others have their turn while it reads a large event', async () => {
    const text = 'const token = read(); // https://user@host/ api_key=abc\n'.repeat(100_000);
    const entry = { agent: 'claude', cut: false, payload: Buffer.from(prompt('s', text)) } as Entry;
    let turns = 0;
    let done = false;
    const count = (): void => {
      turns += 1;
      if (!done) setImmediate(count);
    };
    setImmediate(count);
    const [understood] = await understandAll([entry]);
    done = true;
    expect(understood?.normalised).toMatchObject({ kind: 'prompt', session: 's' });
    expect(turns).toBeGreaterThan(20);
  });

  it('buries what brings down whoever reads it, and takes in the rest', async () => {
    for (const session of ['first', 'deadly', 'last']) capture(session);
    const { taken } = await open({
      understand: async (entries) => {
        if (entries.some(({ payload }) => payload.includes('deadly')))
          throw new Unreadable('it ran out of memory');
        return understandAll(entries);
      },
    });
    await until(() => taken.length === 2);
    expect(taken).toEqual(['first', 'last']);
    await until(() => readdirSync(join(journal, 'new')).length === 0);
    const [dead = ''] = readdirSync(join(journal, 'dead'));
    expect(readFileSync(join(journal, 'dead', dead), 'utf8')).toContain('deadly');
  });
});
