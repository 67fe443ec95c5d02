import { setTimeout as pause } from 'node:timers/promises';
import { FakeAgent } from '../packages/hub/test/fake-agent.ts';
import { ForeignGround } from '../packages/hub/test/foreign-ground.ts';
import { TestHub, until } from '../packages/hub/test/test-hub.ts';
import { cpuOf, type Figure, parentOf } from './measure.ts';

const count = 60;
const forMs = 10_000;

/** What it costs to watch many agents that do nothing: all that the hub, its host and tmux use. */
export async function agents(): Promise<readonly Figure[]> {
  await using hub = await TestHub.start();
  await hub.client.call('session:start', {});
  const processes = async (): Promise<readonly number[]> => {
    const { pid } = await hub.client.call('pane:new', { argv: ['cat'], backend: 'tmux' });
    return [hub.discovery.pid, hub.hostPid(), parentOf(pid)];
  };
  const pids = await processes();
  const plain = await cpuAtRest(pids);
  for (let made = 0; made < count; made++) {
    const agent = await FakeAgent.start(hub, { backend: made % 2 === 0 ? 'tmux' : 'pty' });
    await agent.show('idle-80x24');
  }
  await until(async () => (await hub.client.call('agent:list', {})).every(({ status }) => status === 'idle'));
  const watched = await cpuAtRest(pids);
  return [
    ...(await adopted()),
    {
      ...{ what: `CPU while ${count} idle agents are watched`, unit: 'ms/s' },
      ...{ ours: watched, against: 'the same hub with one pane', theirs: plain, aim: 'near zero' },
    },
  ];
}

/** The same for agents that somebody has started in a tmux of their own. */
async function adopted(): Promise<readonly Figure[]> {
  await using ground = await ForeignGround.start();
  const { hub } = ground;
  const made = Array.from({ length: count }, () => ground.inTmux());
  const pids = [hub.discovery.pid, ground.serverPid];
  const plain = await cpuAtRest(pids);
  for (const { at, as } of made) await as(await ground.adoptOne(at)).show('idle-80x24');
  await until(async () => (await hub.client.call('agent:list', {})).every(({ status }) => status === 'idle'));
  return [
    {
      ...{ what: `CPU while ${count} idle adopted agents are watched`, unit: 'ms/s' },
      ...{ ours: await cpuAtRest(pids), against: 'the same before they were adopted', theirs: plain },
      aim: 'near zero',
    },
  ];
}

/** CPU in ms for each second that goes by. */
async function cpuAtRest(pids: readonly number[]): Promise<number> {
  const used = (): number => pids.reduce((sum, pid) => sum + cpuOf(pid), 0);
  await pause(3_000);
  const before = used();
  await pause(forMs);
  return (used() - before) / forMs;
}
