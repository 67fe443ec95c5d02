import type { TimelineEntry } from '@polyphony/protocol';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { capture } from './capture-ground.ts';
import { TestHub } from './test-hub.ts';
import { openWindow, recorded, type Window, wholeTimeline } from './timeline-ground.ts';

let hub: TestHub;
beforeAll(async () => {
  hub = await TestHub.start();
}, 60_000);
afterAll(() => hub[Symbol.asyncDispose]());

/** A window whose agent is known by a name. */
async function openNamed(id: string, name: string): Promise<Window> {
  const window = await openWindow(hub, id, 'crew');
  await hub.as(window.token).call('floor:leave', {});
  const { session } = await hub.as(window.token).call('floor:join', { project: 'crew', agent: name });
  return { ...window, session };
}

const said = (story: readonly TimelineEntry[]) =>
  story.map(({ kind, sender, text }) => [kind, sender, text] as const);
const bash = (command: string, call: string) => ({
  ...{ tool_name: 'Bash', tool_input: { command }, tool_use_id: call },
});

describe('a sub-agent that the hooks of an agent tell of', () => {
  it('is in the story as itself, below the agent whose it is, and is found by its name', async () => {
    const { session, hook } = await openNamed('parent', 'dean');
    const sql = { agent_id: 'a1b2', agent_type: 'SQL' };
    await hook('UserPromptSubmit', { prompt: 'count the walruses' });
    await hook('PreToolUse', bash('psql', 't0'));
    await hook('PermissionRequest', { tool_name: 'Bash', tool_input: { command: 'psql' } });
    await hook('SubagentStart', sql);
    await hook('PreToolUse', { ...bash('select walrus', 't1'), ...sql });
    await hook('PostToolUse', { ...bash('select walrus', 't1'), ...sql, tool_response: { stdout: '7' } });
    await hook('SubagentStop', { ...sql, last_assistant_message: 'seven walrus' });
    await hook('PreToolUse', {
      ...bash('ls walrus', 't2'),
      agent_id: 'c3',
      agent_type: 'my-plugin:re.View ',
    });
    await hook('PreToolUse', { ...bash('pwd walrus', 't3'), agent_id: 'd4' });
    await hook('Stop', { last_assistant_message: 'Seven.' });
    await recorded(hub, session.session_id, 12);
    const story = await wholeTimeline(hub, session.session_id);
    expect(said(story).slice(1)).toEqual([
      ['prompt', session.driver, 'count the walruses'],
      ['tool', 'agent:dean', 'Bash: psql'],
      ['asked', 'agent:dean', 'Bash: psql'],
      ['subagent', 'agent:dean.sql', 'A subagent began: SQL.'],
      ['tool', 'agent:dean.sql', 'Bash: select walrus'],
      ['subagent', 'agent:dean.sql', 'seven walrus'],
      ['tool', 'agent:dean.my-plugin-re-view', 'Bash: ls walrus'],
      ['tool', 'agent:dean.subagent', 'Bash: pwd walrus'],
      // What the agent asked for waits for as long as its own turn goes on, whatever its sub-agents do.
      ['rejected', session.driver, 'Bash: psql'],
      ['answer', 'agent:dean', 'Seven.'],
    ]);
    const tool = story.find(({ text }) => text.includes('select'));
    expect(tool).toMatchObject({ result: { text: '7' }, data: { subagent: 'a1b2', subagent_type: 'SQL' } });
    const { results } = await hub.client.call('floor:search', { query: 'walrus', sender: 'agent:dean.sql' });
    expect(results.map(({ entry }) => entry.kind).sort()).toEqual(['subagent', 'tool']);
    expect(await hub.client.call('floor:session', { session: session.session_id })).toMatchObject({
      agent: 'agent:dean',
      prompts: 1,
    });
  });

  it('has a name that fits, whatever the names of both', async () => {
    const { session, hook } = await openNamed('longest', 'd'.repeat(60));
    const full = await openNamed('full', 'f'.repeat(64));
    const tool = (agent_type: string) => ({ ...bash('x', agent_type), agent_id: 'a', agent_type });
    await hook('PreToolUse', tool('explorer'));
    await hook('PreToolUse', tool('調査'));
    await full.hook('PreToolUse', tool('explorer'));
    await recorded(hub, session.session_id, 3);
    await recorded(hub, full.session.session_id, 2);
    const senders = async (id: string) => (await wholeTimeline(hub, id)).slice(1).map(({ sender }) => sender);
    expect(await senders(session.session_id)).toEqual([
      `agent:${'d'.repeat(60)}.exp`,
      `agent:${'d'.repeat(60)}.sub`,
    ]);
    expect(await senders(full.session.session_id)).toEqual([`agent:${'f'.repeat(64)}`]);
  });

  it('is asked by its agent, and not by a person', async () => {
    const { session, hook } = await openNamed('asker', 'cody');
    const below = { agent_id: 'thread-2', agent_type: 'default' };
    await hook('UserPromptSubmit', { prompt: 'mine' }, 'codex');
    await hook('UserPromptSubmit', { prompt: 'of the agent', ...below }, 'codex');
    await hook('Stop', { last_assistant_message: 'below', ...below }, 'codex');
    await hook('SubagentStop', { last_assistant_message: 'below', ...below }, 'codex');
    await hook('Stop', { last_assistant_message: 'above' }, 'codex');
    await recorded(hub, session.session_id, 6);
    expect(said(await wholeTimeline(hub, session.session_id)).slice(1)).toEqual([
      ['prompt', session.driver, 'mine'],
      ['notice', 'agent:cody', 'of the agent'],
      ['subagent', 'agent:cody.default', 'below'],
      ['answer', 'agent:cody', 'above'],
    ]);
    const changes = await hub.client.call('floor:changes', { session: session.session_id });
    expect(changes).toMatchObject({ last_answer: { text: 'above' } });
    expect((await hub.client.call('floor:session', { session: session.session_id })).prompts).toBe(1);
  });

  it('of OpenCode is a session below the one of the agent, which stays that of its pane', async () => {
    const { id, token, session } = await openNamed('opener', 'olga');
    const tell = (type: string, properties: object, more: object = {}) =>
      capture(hub, JSON.stringify({ type, directory: '/work', ...more, properties }), {
        agent: 'opencode',
        env: { POLY_PANE: id, POLY_TOKEN: token },
      });
    const below = { parentID: 'ses_top', agent: 'general' };
    await tell('chat.message', { sessionID: 'ses_top', text: 'look around' });
    await tell('session.created', { sessionID: 'ses_low' }, below);
    await tell('chat.message', { sessionID: 'ses_low', text: 'you are to look' }, below);
    const call = { sessionID: 'ses_low', tool: 'glob', callID: 'c1' };
    await tell('tool.execute.before', { ...call, args: { pattern: '**/*.otter' } }, below);
    await tell('tool.execute.after', { ...call, output: 'a.otter' }, below);
    await tell('session.idle', { sessionID: 'ses_low', text: 'one otter' }, below);
    await tell('session.idle', { sessionID: 'ses_low' }, below);
    await tell('session.deleted', { sessionID: 'ses_low' }, below);
    await tell('session.idle', { sessionID: 'ses_top', text: 'There is one.' });
    await recorded(hub, session.session_id, 10);
    expect(said(await wholeTimeline(hub, session.session_id)).slice(1)).toEqual([
      ['prompt', session.driver, 'look around'],
      ['subagent', 'agent:olga.general', 'A subagent began: general.'],
      ['notice', 'agent:olga', 'you are to look'],
      ['tool', 'agent:olga.general', 'glob: **/*.otter'],
      ['subagent', 'agent:olga.general', 'one otter'],
      ['answer', 'agent:olga', 'There is one.'],
    ]);
    const shown = await hub.client.call('floor:session', { session: session.session_id });
    expect(shown.bindings).toMatchObject([{ pane: id, vendor: 'opencode', conversation: 'ses_top' }]);
  });
});
