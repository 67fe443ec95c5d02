import { setTimeout as pause } from 'node:timers/promises';
import { FakeComposer } from '../packages/hub/test/fake-composer.ts';
import { register } from '../packages/hub/test/mail-ground.ts';
import { TestHub, until } from '../packages/hub/test/test-hub.ts';
import { type Figure, median } from './measure.ts';

const rounds = 15;
/** POKE_QUIET_MS and a little: after this a pane is quiet. */
const quietMs = 2_200;
/** What cross-agent-teams-mcp takes for the same, and holds its sender up for. */
const theirs = 3_432;

/** How soon an agent in a quiet pane is typed at after somebody has written to it, and how long that holds up the sender. */
export async function wake(): Promise<readonly Figure[]> {
  await using hub = await TestHub.start();
  const bob = await register(hub, 'bob');
  const agent = await FakeComposer.start(hub, { name: 'alice' });
  await agent.register(hub, 'alice');
  const [typed, sending]: [number[], number[]] = [[], []];
  for (let round = 0; round < rounds; round++) {
    await agent.order({ show: 'idle-120x40', draft: '' });
    await until(async () => {
      const { status } = await hub.client.call('agent:explain', { paneId: agent.paneId });
      return status === 'idle' || status === 'done';
    });
    await pause(quietMs);
    const begun = Date.now();
    await bob.call('mail:send', { to_agent_name: 'alice', body: 'wake up' });
    sending.push(Date.now() - begun);
    const pasted = await until(() => agent.noted.filter(({ kind }) => kind === 'pasted')[round]);
    typed.push(pasted.at - begun);
    await until(() => agent.submitted.length > round);
  }
  const against = 'cross-agent-teams-mcp, measured before';
  return [
    {
      what: 'wake an agent in a quiet pane, sent to typed',
      unit: 'ms',
      ours: median(typed),
      against,
      theirs,
      aim: '150 ms at most',
    },
    {
      what: 'the same, the sender held up',
      unit: 'ms',
      ours: median(sending),
      against,
      theirs,
      aim: 'not by the wake',
    },
  ];
}
