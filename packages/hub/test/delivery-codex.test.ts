import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { MailDelivery } from '@polyphony/protocol';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { register, type TestAgent } from './mail-ground.ts';
import { TestHub, until } from './test-hub.ts';
import { hooksOf, type Window } from './timeline-ground.ts';

/** Takes whatever is put into its queue, and shows nothing. */
const program = `#!/bin/sh
[ "$1" = queue ] && { echo "$*" >>"$LOG"; exit 0; }
echo "$POLY_TOKEN" >"$LOG.token"
exec cat
`;

let hub: TestHub;
let bob: TestAgent;
let log: string;
let hook: Window['hook'];
beforeEach(async () => {
  hub = await TestHub.start();
  bob = await register(hub, 'bob');
  log = join(hub.home, 'queue');
  const file = join(hub.home, 'codex');
  writeFileSync(file, program);
  chmodSync(file, 0o700);
  const { id } = await hub.client.call('agent:create', { argv: [file], env: { LOG: log } });
  const token = await until(() => existsSync(`${log}.token`) && readFileSync(`${log}.token`, 'utf8').trim());
  await hub.as(token).call('mail:register', { name: 'alice', project: 'demo' });
  hook = hooksOf(hub, id, token, 'c1');
  await hook('UserPromptSubmit', { prompt: 'take your time' }, 'codex');
  await until(async () => (await hub.client.call('agent:list', {}))[0]?.status === 'running');
});
afterEach(() => hub[Symbol.asyncDispose]());

const send = async (): Promise<string> =>
  (await bob.call('mail:send', { to_agent_name: 'alice', body: 'hello' })).message_id;
const reaches = (message_id: string, fits: (found: MailDelivery) => boolean): Promise<MailDelivery> =>
  until(async () => {
    const [found] = (await bob.call('mail:status', { message_id })).statuses;
    return found && fits(found) && found;
  });

it('says that a line in the queue of Codex waits for the next turn once this one was broken off', async () => {
  const sent = await send();
  expect(await reaches(sent, ({ state }) => state === 'written')).toMatchObject({ door: 'codex queue' });
  await hook('Interrupt', {}, 'codex');
  const left = await reaches(sent, ({ reason = '' }) => reason.startsWith('interrupted: '));
  expect(left).toMatchObject({ state: 'written', door: 'codex queue' });
  await hook('UserPromptSubmit', { prompt: readFileSync(log, 'utf8') }, 'codex');
  expect(await reaches(sent, ({ state }) => state === 'seen')).toMatchObject({ door: 'codex queue' });
});

it('puts nothing into the queue of Codex after a turn that was broken off', async () => {
  await hook('Interrupt', {}, 'codex');
  await hub.event('agent:captured', ({ payload }) => (payload as { kind: string }).kind === 'interrupted');
  const sent = await send();
  const held = await reaches(sent, ({ reason = '' }) => reason.includes('codex queue: interrupted'));
  expect(held.state).toBe('queued');
  expect(existsSync(log)).toBe(false);
});
