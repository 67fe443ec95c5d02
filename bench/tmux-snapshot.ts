import { execute, listPanes, newWindow, takeSnapshot } from '@polyphony/tmux';
import { demoServer } from '@polyphony/tmux/testing';
import { cost, type Figure, inTurn } from './measure.ts';
import { RawControl } from './raw-control.ts';

/** The whole server as typed data, 200 panes, against tmux merely printing the same fields. */
export async function tmuxSnapshot(): Promise<readonly Figure[]> {
  await using server = await demoServer();
  const engine = server.engine('control');
  const { panes } = await countPanes();
  await Promise.all(
    Array.from({ length: 200 - panes }, () =>
      execute(engine, newWindow({ target: { session: 'demo' }, shell: 'exec cat' })),
    ),
  );
  const pid = Number(await server.pid());
  const raw = await RawControl.open(server.connection);
  const argv = listPanes({ all: true }).render(await engine.version());
  const line = argv.map((word) => `'${word}'`).join(' ');
  const [ours, limit] = await inTurn([
    () => cost(pid, 30, 1, () => takeSnapshot(engine)),
    () => cost(pid, 30, 1, () => raw.send(line)),
  ]);
  await raw.close();
  return [
    {
      what: 'snapshot of 200 panes, p50',
      unit: 'µs',
      ours: ours?.p50 ?? 0,
      against: 'raw list-panes',
      theirs: limit?.p50 ?? 0,
      aim: '≤ 2x',
    },
    {
      what: 'snapshot of 200 panes, CPU',
      unit: 'µs',
      ours: ours?.cpu ?? 0,
      against: 'raw list-panes',
      theirs: limit?.cpu ?? 0,
      aim: '≤ 2x',
    },
  ];

  async function countPanes(): Promise<{ panes: number }> {
    const { sessions } = await takeSnapshot(engine);
    return { panes: sessions.flatMap((session) => session.windows.flatMap((window) => window.panes)).length };
  }
}
