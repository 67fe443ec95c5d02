import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Server } from '@polyphony/tmux';
import { demoServer } from '@polyphony/tmux/testing';
import { type Figure, median } from './measure.ts';

const megabytes = 50;

/** 50 MB printed in a pane and read by us through a pipe, against tmux piping them to a file nobody reads. */
export async function tmuxOutput(): Promise<readonly Figure[]> {
  await using server = await demoServer();
  const file = join(server.directory, 'bytes');
  await writeFile(file, `${'0123456789abcdef'.repeat(4)}\n`.repeat((megabytes * 1024 * 1024) / 65));
  const tmux = new Server(server.engine('control'), server.connection);
  const session = await tmux.session('demo');
  const ours: number[] = [];
  const theirs: number[] = [];
  for (let round = 0; round < 3; round++) {
    ours.push(await throughPipe());
    theirs.push(await toNobody());
  }
  return [
    {
      what: `${megabytes} MB of a pane's output`,
      unit: 'MB/s',
      ours: median(ours),
      against: 'pipe-pane to /dev/null',
      theirs: median(theirs),
      aim: '≥ 0.7x',
    },
  ];

  async function throughPipe(): Promise<number> {
    const window = await session?.newWindow({ shell: 'exec cat' });
    const pane = await window?.pane();
    const pipe = await pane?.pipe();
    const start = performance.now();
    await pane?.respawn({ kill: true, shell: `exec cat ${file}` });
    let bytes = 0;
    for await (const chunk of pipe ?? []) bytes += chunk.length;
    if (bytes < megabytes * 1024 * 1000) throw new Error(`Only ${bytes} bytes came.`);
    return megabytes / ((performance.now() - start) / 1000);
  }

  async function toNobody(): Promise<number> {
    const start = performance.now();
    const done = `nobody-${performance.now()}`;
    await session?.newWindow({
      shell: `tmux pipe-pane -O 'cat > /dev/null'; cat ${file}; tmux wait-for -S ${done}`,
    });
    const { run } = tmux;
    await run.call(tmux, (await import('@polyphony/tmux')).waitFor({ channel: done }));
    return megabytes / ((performance.now() - start) / 1000);
  }
}
