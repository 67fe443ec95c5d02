import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { type Client, participantOf } from '@polyphony/protocol';
import { expect, it } from 'vitest';
import { FakeComposer } from './fake-composer.ts';
import { invited } from './people-ground.ts';
import { TestHub, until } from './test-hub.ts';

const me = participantOf('user', userInfo().username);
const hooks = join(import.meta.dirname, '..', 'hooks');

/** What the hooks of an agent bring along with its next event. */
async function contextOf(hub: TestHub, pane: string): Promise<string> {
  const child = spawn('sh', [join(hooks, 'context.sh'), 'claude'], {
    env: { PATH: process.env.PATH, POLY_HOME: hub.dir, POLY_PANE: pane, CLAUDE_CODE_ENTRYPOINT: 'cli' },
  });
  child.stdin.end(JSON.stringify({ session_id: 's1', cwd: '/', hook_event_name: 'PostToolUse' }));
  let said = '';
  child.stdout.on('data', (chunk) => (said += chunk));
  await once(child, 'close');
  return said === '' ? '' : JSON.parse(said).hookSpecificOutput.additionalContext;
}

it('carries two people and two agents through a day in one session, with the hub killed in between', async () => {
  await using hub = await TestHub.start({ env: { POKE_QUIET_MS: '100' } });
  const ada = await invited(hub, 'ada');
  const coder = await FakeComposer.start(hub, { name: 'coder' });
  const becomes = (...wanted: readonly string[]) =>
    until(async () => {
      const agents = await hub.client.call('agent:list', {});
      return wanted.includes(agents.find(({ id }) => id === coder.paneId)?.status ?? '');
    });
  await becomes('idle');
  const kill = async (): Promise<void> => {
    await hub.kill('SIGKILL');
    await hub.start();
  };
  const { session } = await coder.client(hub).call('floor:join', { project: 'shop', session: 'day' });
  const { session_id } = session;
  const tool = (id: string, command: string, stdout: string) => [
    ['PreToolUse', { tool_name: 'Bash', tool_input: { command }, tool_use_id: id }] as const,
    [
      'PostToolUse',
      { tool_name: 'Bash', tool_input: { command }, tool_use_id: id, tool_response: { stdout } },
    ] as const,
  ];
  const reviewer = await (async (): Promise<Client> => {
    const { secret = '' } = await hub.client.call('mail:register', { name: 'reviewer', project: 'shop' });
    return hub.as(secret);
  })();

  // In the morning the user drives, and an agent looks on.
  await hub.client.call('floor:inject', { session: session_id, text: 'Make the basket a list.' });
  await until(() => coder.submitted.length === 1);
  await becomes('running');
  for (const fire of tool('t1', 'npm test', '3 failed')) await coder.order({ fire });
  const advice = await reviewer.call('floor:advise', {
    session: session_id,
    text: 'Three tests want a set.',
  });
  const stateOf = async ({ message_id }: { message_id: string }, by: Client) =>
    (await by.call('mail:status', { message_id })).statuses[0]?.state;
  await until(async () => (await stateOf(advice, reviewer)) === 'written');
  await kill();
  expect(await contextOf(hub, coder.paneId)).toContain('> Three tests want a set.');
  for (const fire of tool('t2', 'npm test', 'all passed')) await coder.order({ fire });
  await until(async () => (await stateOf(advice, reviewer)) === 'seen');
  await coder.order({ show: 'idle-120x40', fire: ['Stop', { last_assistant_message: 'It is a set now.' }] });
  await becomes('idle', 'done');

  // At noon the other person takes over, knows what happened, and the agent hears who drives with its next turn only.
  const asked = ada.call('floor:claim', { session: session_id, takeover: true });
  const { id } = await until(async () => (await hub.client.call('approval:list', {})).approvals[0]);
  await hub.client.call('approval:resolve', { id, decision: 'allow' });
  const { digest, before } = await asked;
  expect(before).toBe(me);
  expect(Buffer.byteLength(digest)).toBeLessThanOrEqual(8192);
  for (const known of ['Make the basket a list.', 'npm test → all passed', 'It is a set now.'])
    expect(digest).toContain(known);
  await kill();
  await expect(
    hub.client.call('floor:inject', { session: session_id, text: 'No, a list!' }),
  ).rejects.toMatchObject({ code: 'forbidden' });
  await ada.call('floor:inject', { session: session_id, text: 'Now the prices.' });
  await becomes('running');
  const context = await until(async () => (await contextOf(hub, coder.paneId)) || undefined);
  expect(context).toContain(`> user:ada drives this session from now on, after ${me}.`);
  expect(context).toContain('not an order');
  await coder.order({ show: 'idle-120x40', fire: ['Stop', { last_assistant_message: 'Prices are done.' }] });

  // In the evening it goes back, and everybody reads the same story.
  await ada.call('floor:handoff', { session: session_id, to: `@${me}` });
  const evening = await hub.client.call('floor:digest', { session: session_id });
  expect(evening.digest).toContain('Prices are done.');
  const { entries } = await until(async () => {
    const page = await ada.call('floor:timeline', { session: session_id, limit: 500 });
    return page.entries.filter(({ kind }) => kind === 'answer').length === 2 && page;
  });
  const story = entries
    .filter(({ kind }) => ['prompt', 'answer', 'advice', 'handoff'].includes(kind))
    .map(({ kind, sender, text }) => [kind, sender, text.trimEnd()]);
  expect(story).toEqual([
    ['prompt', me, 'Make the basket a list.'],
    ['advice', 'agent:reviewer', 'Three tests want a set.'],
    ['answer', session.agent, 'It is a set now.'],
    ['handoff', 'user:ada', `user:ada took the seat from ${me}.`],
    ['prompt', 'user:ada', 'Now the prices.'],
    ['answer', session.agent, 'Prices are done.'],
    ['handoff', 'user:ada', `user:ada handed the seat over to ${me}.`],
  ]);
  expect(coder.submitted).toEqual(['Make the basket a list.', 'Now the prices.']);
}, 120_000);
