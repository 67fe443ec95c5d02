import { expect, test } from 'vitest';
import { type ProcessEntry, parsePs, shareLooks } from './process-table.ts';
import { membersOf } from './process-tree.ts';

const mark = { pane: 'pty_1', host: '/h' };
const leader = { pid: 100, startTime: 'then' };
const entry = (pid: number, more: Partial<ProcessEntry> = {}): ProcessEntry => ({
  pid,
  startTime: 'then',
  parent: 1,
  group: pid,
  session: pid,
  name: 'sleep',
  mark: null,
  ...more,
});
const pids = (
  all: readonly ProcessEntry[],
  known: readonly ProcessEntry[] = [],
  spare?: ReadonlySet<number>,
) => membersOf({ leader, mark, ...(spare && { spare }) }, all, known).map(({ pid }) => pid);

test('a tree is its leader, its session, its group and their descendants', () => {
  const all = [
    entry(100),
    entry(101, { session: 100 }),
    entry(102, { group: 100 }),
    entry(103, { parent: 101 }),
    entry(104, { parent: 103 }),
    entry(105),
  ];
  expect(pids(all)).toEqual([100, 101, 102, 103, 104]);
});

test('who left the session is known by the mark, and only by the mark of this very host', () => {
  const all = [
    entry(200, { mark }),
    entry(201, { parent: 200 }),
    entry(202, { mark: { ...mark, pane: 'pty_2' } }),
    entry(203, { mark: { ...mark, host: '/other' } }),
  ];
  expect(pids(all)).toEqual([200, 201]);
});

test('a process that has the number of the leader by now is not of the tree, nor is its session', () => {
  expect(pids([entry(100, { startTime: 'now' }), entry(101, { session: 100 })])).toEqual([]);
});

test('a session is followed after its leader has died only while a known member holds its number', () => {
  const orphan = entry(101, { session: 100 });
  const born = entry(102, { session: 100 });
  expect(pids([orphan, born], [orphan])).toEqual([101, 102]);
  expect(pids([orphan, born])).toEqual([]);
  expect(pids([{ ...orphan, startTime: 'now' }, born], [orphan])).toEqual([]);
});

test('a tmux server that was started in the pane is left alone with all that runs in it', () => {
  const all = [
    entry(100, { mark }),
    entry(300, { mark, name: 'tmux: server' }),
    entry(301, { mark, parent: 300 }),
    entry(302, { mark, parent: 301 }),
  ];
  expect(pids(all)).toEqual([100]);
});

test('a pane inside a tmux server of ours is not mistaken for such a server', () => {
  const all = [entry(300, { name: 'tmux: server' }), entry(100, { mark, parent: 300 })];
  expect(pids(all)).toEqual([100]);
});

test('the host, the first process and hubs are never of a tree', () => {
  const all = [entry(1, { mark }), entry(process.pid, { mark }), entry(7, { mark }), entry(100)];
  expect(pids(all, [], new Set([7]))).toEqual([100]);
});

test('those who look at the same time share one look, which began after each had asked', async () => {
  const looks: PromiseWithResolvers<readonly ProcessEntry[]>[] = [];
  const look = shareLooks(() => {
    const begun = Promise.withResolvers<readonly ProcessEntry[]>();
    looks.push(begun);
    return begun.promise;
  });
  const first = look();
  await Promise.resolve();
  const late = [look(), look()];
  await Promise.resolve();
  expect(looks).toHaveLength(1);
  looks[0]?.resolve([entry(1)]);
  expect(await first).toEqual([entry(1)]);
  await Promise.resolve();
  expect(looks).toHaveLength(2);
  looks[1]?.reject(new Error('blind'));
  for (const each of late) await expect(each).rejects.toThrow('blind');
  const again = look();
  await new Promise((resolve) => setImmediate(resolve));
  looks[2]?.resolve([]);
  expect(await again).toEqual([]);
});

test('what ps prints is read as far as it tells', () => {
  const printed = `    1     0     1 Ss   Mon Nov 16 00:00:01 2026 /sbin/launchd
  512     1   512 S+   Mon Nov  6 10:11:12 2026 /bin/a name with spaces
  513   512   512 Z    Mon Nov 16 10:11:13 2026 (sh)
`;
  expect(parsePs(printed)).toEqual([
    {
      pid: 1,
      parent: 0,
      group: 1,
      session: 0,
      startTime: 'Mon Nov 16 00:00:01 2026',
      name: '/sbin/launchd',
      mark: null,
    },
    {
      pid: 512,
      parent: 1,
      group: 512,
      session: 0,
      startTime: 'Mon Nov 6 10:11:12 2026',
      name: '/bin/a name with spaces',
      mark: null,
    },
  ]);
});
