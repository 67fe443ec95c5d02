import type { BuiltInEvents } from '@polyphony/protocol';
import { expect, it } from 'vitest';
import { tellsOf } from '../src/capture/adapters/adapters.ts';
import { createEventLog } from '../src/events/event-log.ts';
import { Unspoken } from '../src/floor/timeline/unspoken.ts';
import { systemClock } from '../src/platform/clock.ts';
import { FloorGround } from './floor-ground.ts';

const user = { participant: 'user:ann' } as const;

/** A session that a Claude Code in the pane `one` feeds, with what its hooks have told so far. */
async function begin(ground: FloorGround, hooks: readonly object[], tellsOfEsc = false) {
  const { floor, store, commit } = ground;
  const { session } = await floor.sessions.join(ground.pane('one'), 'shop', {}, commit);
  const events = await createEventLog({ store, clock: systemClock });
  const unspoken = new Unspoken({
    ...{ store, events, recorder: floor.recorder, hub: user, graceMs: 0, tellsOfEsc: () => tellsOfEsc },
    log: { info: () => undefined, warn: () => undefined, error: () => undefined } as never,
  });
  const row = await floor.sessions.find(session.session_id, undefined);
  const asker = { ...ground.pane('one'), isUser: true };
  const tell = async (payload: object) =>
    floor.records.event(asker, row, { session: row.id, payload: payload as Record<string, unknown> }, commit);
  for (const payload of hooks) await tell(payload);
  const state = (
    before: 'running' | 'blocked' | 'done',
    authority: BuiltInEvents['agent:state']['authority'],
    {
      status = 'idle',
      at = Date.now(),
    }: { readonly status?: 'idle' | 'running' | 'error'; readonly at?: number } = {},
  ) => unspoken.hear({ paneId: 'one', status, before, authority, evidence: 'above: ■ it rests' }, at);
  const kinds = async () =>
    (await floor.timeline.page(row, {})).entries.map(({ kind, sender }) => `${kind} ${sender}`);
  const texts = async () => (await floor.timeline.page(row, {})).entries.map(({ text }) => text);
  return { state, kinds, texts, tell, unspoken };
}

const prompt = { hook_event_name: 'UserPromptSubmit', prompt: 'go' };
const bash = { tool_name: 'Bash', tool_input: { command: 'rm x' } };

it('writes down Esc, which no hook tells, once the agent is seen to rest', async () => {
  await using ground = await FloorGround.open();
  const { state, kinds, unspoken } = await begin(ground, [prompt]);
  await state('running', 'session file');
  expect((await kinds()).slice(1)).toEqual(['prompt user:ann', 'interrupt user:ann']);
  // Seen once more by another source.
  await state('running', 'screen');
  expect(await kinds()).toHaveLength(3);
  unspoken.close();
});

it('leaves Esc to the hooks of an agent that tell of it, however late they come', async () => {
  await using ground = await FloorGround.open();
  const { state, kinds, unspoken } = await begin(ground, [prompt], true);
  await state('running', 'screen');
  expect((await kinds()).slice(1)).toEqual(['prompt user:ann']);
  expect(
    ['opencode', 'codex', 'claude', 'gemini', 'none'].map((name) => tellsOf(name, 'interrupted')),
  ).toEqual([true, true, false, false, false]);
  unspoken.close();
});

it('writes down No at a question', async () => {
  await using ground = await FloorGround.open();
  const { state, kinds, unspoken } = await begin(ground, [
    prompt,
    { hook_event_name: 'PreToolUse', ...bash, tool_use_id: 't' },
    { hook_event_name: 'PermissionRequest', ...bash },
  ]);
  await state('blocked', 'session file');
  await state('blocked', 'screen');
  expect((await kinds()).slice(3)).toEqual(['asked agent:claude', 'rejected user:ann']);
  unspoken.close();
});

it('writes nothing where a hook told how the turn ended, or nobody has seen it rest', async () => {
  await using ground = await FloorGround.open();
  const { state, kinds, tell, unspoken } = await begin(ground, [prompt]);
  await state('running', 'protocol');
  await tell({ hook_event_name: 'Stop', last_assistant_message: '' });
  await state('running', 'session file');
  await state('blocked', 'screen');
  expect((await kinds()).slice(1)).toEqual(['prompt user:ann']);
  unspoken.close();
});

it('writes down that a turn has failed, which only the screen tells, and not that somebody broke it off', async () => {
  await using ground = await FloorGround.open();
  const { state, kinds, texts, unspoken } = await begin(ground, [prompt]);
  const at = Date.now();
  await Promise.all([
    state('running', 'hooks', { at }),
    state('done', 'screen', { status: 'error', at: at + 1 }),
  ]);
  expect((await kinds()).slice(1)).toEqual(['prompt user:ann', 'failure agent:claude']);
  expect((await texts()).at(-1)).toBe('it rests');
  unspoken.close();
});

it('takes a turn that goes on for no other, where the screen showed rest for a moment', async () => {
  await using ground = await FloorGround.open();
  const { state, kinds, tell, unspoken } = await begin(ground, [prompt]);
  const at = Date.now();
  const works = { status: 'running', at: at + 2 } as const;
  await Promise.all([state('running', 'screen', { at: at + 1 }), state('done', 'hooks', works)]);
  expect((await kinds()).slice(1)).toEqual(['prompt user:ann']);
  // With something new to do, what it did before was broken off.
  await new Promise((resolve) => setTimeout(resolve, 5));
  await tell({ ...prompt, prompt: 'and now' });
  await Promise.all([state('running', 'screen', { at: at + 1 }), state('done', 'hooks', works)]);
  expect((await kinds()).slice(1)).toEqual(['prompt user:ann', 'interrupt user:ann', 'prompt user:ann']);
  unspoken.close();
});

it('knows which turn was broken off, also when the next has begun or ended by then', async () => {
  await using ground = await FloorGround.open();
  const { state, kinds, tell, unspoken } = await begin(ground, [prompt]);
  const at = Date.now();
  await new Promise((resolve) => setTimeout(resolve, 2));
  await tell({ ...prompt, prompt: 'and now' });
  await tell({ hook_event_name: 'Stop', last_assistant_message: 'done' });
  await state('running', 'screen', { at });
  expect((await kinds()).slice(1)).toEqual([
    'prompt user:ann',
    'interrupt user:ann',
    'prompt user:ann',
    'answer agent:claude',
  ]);
  await state('running', 'screen');
  expect(await kinds()).toHaveLength(5);
  unspoken.close();
});
