import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { displayMessage, execute } from '@polyphony/tmux';
import { demoServer } from '@polyphony/tmux/testing';
import { cost, type Figure, inTurn } from './measure.ts';
import { RawControl } from './raw-control.ts';

/** One operation after another, and many at once, against a raw loop and against a process a call. */
export async function tmuxOperations(): Promise<readonly Figure[]> {
  await using server = await demoServer();
  const engine = server.engine('control');
  const operation = displayMessage({ target: '%0', message: '#{pane_id}' });
  const line = "display-message -p -t %0 -- '#{pane_id}'";
  await execute(engine, operation);
  const pid = Number(await server.pid());
  const raw = await RawControl.open(server.connection);
  const ours = (): Promise<unknown> => execute(engine, operation);
  const many = (count: number) => (): Promise<unknown> => Promise.all(Array.from({ length: count }, ours));
  const { socketPath = '', tmux = 'tmux' } = server.connection;
  const byProcess = (): Promise<unknown> =>
    promisify(execFile)(tmux, ['-S', socketPath, 'display-message', '-p', '-t', '%0', '#{pane_id}']);

  const one = await inTurn({
    ours: () => cost(pid, 3000, 1, ours),
    raw: () => cost(pid, 3000, 1, () => raw.send(line)),
    process: () => cost(pid, 150, 1, byProcess),
  });
  const hundred = await inTurn({
    ours: () => cost(pid, 300, 100, many(100)),
    raw: () => cost(pid, 300, 100, () => raw.send(line, 100)),
  });
  const thousand = await inTurn({
    ours: () => cost(pid, 40, 1000, many(1000)),
    raw: () => cost(pid, 40, 1000, () => raw.send(line, 1000)),
  });
  await raw.close();
  const unit = 'µs';
  const against = 'raw loop';
  return [
    { what: 'one operation, p50', unit, ours: one.ours.p50, against, theirs: one.raw.p50, aim: '≤ 1.3x' },
    { what: 'one operation, CPU', unit, ours: one.ours.cpu, against, theirs: one.raw.cpu, aim: '≤ 1.3x' },
    { what: 'one operation, CPU', unit, ours: one.ours.cpu, against: 'process a call', theirs: one.process.cpu, aim: '≤ 0.025x' },
    { what: '100 at once, CPU each', unit, ours: hundred.ours.cpu, against, theirs: hundred.raw.cpu, aim: '≤ 30 µs' },
    { what: '1000 at once, CPU each', unit, ours: thousand.ours.cpu, against, theirs: thousand.raw.cpu, aim: '≤ 30 µs' },
  ]; // biome-ignore format: a table
}
