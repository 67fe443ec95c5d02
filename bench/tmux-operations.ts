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

  const [one, rawOne, process] = await inTurn([
    () => cost(pid, 3000, 1, ours),
    () => cost(pid, 3000, 1, () => raw.send(line)),
    () => cost(pid, 150, 1, byProcess),
  ]);
  const [hundred, rawHundred] = await inTurn([
    () => cost(pid, 300, 100, many(100)),
    () => cost(pid, 300, 100, () => raw.send(line, 100)),
  ]);
  const [thousand, rawThousand] = await inTurn([
    () => cost(pid, 40, 1000, many(1000)),
    () => cost(pid, 40, 1000, () => raw.send(line, 1000)),
  ]);
  await raw.close();
  const none = { p50: Number.NaN, cpu: Number.NaN };
  const a = one ?? none;
  return [
    {
      what: 'one tmux operation, p50',
      unit: 'µs',
      ours: a.p50,
      against: 'raw loop',
      theirs: rawOne?.p50 ?? 0,
      aim: '≤ 1.3x',
    },
    {
      what: 'one tmux operation, CPU',
      unit: 'µs',
      ours: a.cpu,
      against: 'process a call',
      theirs: process?.cpu ?? 0,
      aim: '≤ 0.025x',
    },
    {
      what: '100 at once, CPU each',
      unit: 'µs',
      ours: hundred?.cpu ?? 0,
      against: 'raw loop',
      theirs: rawHundred?.cpu ?? 0,
      aim: '≤ 30 µs',
    },
    {
      what: '1000 at once, CPU each',
      unit: 'µs',
      ours: thousand?.cpu ?? 0,
      against: 'raw loop',
      theirs: rawThousand?.cpu ?? 0,
      aim: '≤ 30 µs',
    },
  ];
}
