import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Server, waitFor } from '@polyphony/tmux';
import { demoServer } from '@polyphony/tmux/testing';
import { type Figure, median } from './measure.ts';

const megabytes = 50;

/** 50 MB printed in a pane and read by us through a pipe, against tmux piping them to nobody. */
export async function tmuxOutput(): Promise<readonly Figure[]> {
  await using temporary = await demoServer();
  const file = join(temporary.directory, 'bytes');
  await writeFile(file, `${'0123456789abcdef'.repeat(4)}\n`.repeat((megabytes * 1024 * 1024) / 65));
  const server = new Server(temporary.engine('control'), temporary.connection);
  const session = await server.newSession({ shell: 'exec cat' });
  const rates = { ours: [] as number[], theirs: [] as number[] };
  for (let round = 0; round < 3; round++) {
    rates.ours.push(await rateOf(throughPipe));
    rates.theirs.push(await rateOf(toNobody));
  }
  return [
    {
      what: `${megabytes} MB of a pane's output`,
      unit: 'MB/s',
      ours: median(rates.ours),
      against: 'pipe-pane to /dev/null',
      theirs: median(rates.theirs),
      aim: '≥ 0.7x',
    },
  ];

  async function throughPipe(): Promise<void> {
    const pane = await (await session.newWindow({ shell: 'exec cat' })).pane();
    const pipe = await pane.pipe();
    await pane.respawn({ kill: true, shell: `exec cat ${file}` });
    let bytes = 0;
    for await (const chunk of pipe) bytes += chunk.length;
    if (bytes < megabytes * 1024 * 1000) throw new Error(`Only ${bytes} bytes came.`);
  }

  async function toNobody(): Promise<void> {
    const channel = `done-${performance.now()}`;
    await session.newWindow({
      shell: `tmux pipe-pane -O 'cat > /dev/null'; cat ${file}; tmux wait-for -S ${channel}`,
    });
    await server.run(waitFor({ channel }));
  }
}

async function rateOf(work: () => Promise<void>): Promise<number> {
  const start = performance.now();
  await work();
  return megabytes / ((performance.now() - start) / 1000);
}
