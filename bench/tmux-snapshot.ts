import { execute, listPanes, newWindow, panesOf, takeSnapshot } from '@polyphony/tmux';
import { demoServer } from '@polyphony/tmux/testing';
import { cost, type Figure, inTurn } from './measure.ts';
import { RawControl } from './raw-control.ts';

/** The whole server as typed data, 200 panes, against tmux merely printing the same fields. */
export async function tmuxSnapshot(): Promise<readonly Figure[]> {
  await using server = await demoServer();
  const engine = server.engine('control');
  const more = 200 - panesOf(await takeSnapshot(engine)).length;
  const window = newWindow({ target: { session: 'demo' }, shell: 'exec cat' });
  await Promise.all(Array.from({ length: more }, () => execute(engine, window)));
  const pid = Number(await server.pid());
  const raw = await RawControl.open(server.connection);
  const argv = listPanes({ all: true }).render(await engine.version());
  const line = argv.map((word) => `'${word}'`).join(' ');
  const both = await inTurn({
    ours: () => cost(pid, 30, 1, () => takeSnapshot(engine)),
    raw: () => cost(pid, 30, 1, () => raw.send(line)),
  });
  await raw.close();
  const unit = 'µs';
  const against = 'raw list-panes';
  return [
    { what: 'snapshot of 200 panes, p50', unit, ours: both.ours.p50, against, theirs: both.raw.p50, aim: '≤ 2x' },
    { what: 'snapshot of 200 panes, CPU', unit, ours: both.ours.cpu, against, theirs: both.raw.cpu, aim: '≤ 2x' },
  ]; // biome-ignore format: a table
}
