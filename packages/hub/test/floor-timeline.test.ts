import { renameSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TestHub } from './test-hub.ts';
import { hooksOf, kindsOf, openWindow, recorded, wholeTimeline } from './timeline-ground.ts';

let hub: TestHub;
beforeAll(async () => {
  hub = await TestHub.start();
}, 60_000);
afterAll(() => hub[Symbol.asyncDispose]());

describe('a timeline', () => {
  it('tells a turn as a story, whose words are whose, and each tool with its result', async () => {
    const { session, hook } = await openWindow(hub, 'storyteller', 'tales');
    const bash = { tool_name: 'Bash', tool_input: { command: 'npm test' }, tool_use_id: 'toolu_1' };
    await hook('SessionStart', { source: 'startup' });
    await hook('UserPromptSubmit', { prompt: 'run the tests', prompt_id: 'p1' });
    await hook('PreToolUse', bash);
    await hook('PermissionRequest', { tool_name: 'Bash', tool_input: { command: 'npm test' } });
    await hook('PostToolUse', {
      ...bash,
      tool_response: { stdout: 'all green', stderr: '' },
      duration_ms: 41,
    });
    await hook('SubagentStop', { agent_id: 'a1', agent_type: 'Explore', last_assistant_message: 'found it' });
    await hook('PostCompact', { trigger: 'auto', compact_summary: 'what was said' });
    await hook('PermissionDenied', { ...bash, tool_use_id: 'toolu_2', reason: 'not allowed' });
    await hook('Stop', { last_assistant_message: 'They pass.' });
    await hook('StopFailure', { error: 'API Error: 400' });
    await hook('Interrupt', { turn_id: 't9' }, 'codex');
    await hook('SessionEnd', { reason: 'prompt_input_exit' });
    await hook('NobodyKnowsThisYet', { future: { field: [1, 2] } });
    // Beside these: that it joined, and that the tool was approved.
    await recorded(hub, session.session_id, 15);

    const story = await wholeTimeline(hub, session.session_id);
    const me = session.driver ?? '';
    expect(story.map(({ kind, sender, text }) => [kind, sender, text])).toEqual([
      ['joined', 'agent:storyteller', 'agent:storyteller joined.'],
      ['session_start', 'agent:claude', 'The conversation began (startup).'],
      ['prompt', me, 'run the tests'],
      ['tool', 'agent:claude', 'Bash: npm test'],
      ['asked', 'agent:claude', 'Bash: npm test'],
      ['approved', me, expect.stringContaining('npm test')],
      ['subagent', 'agent:claude.explore', 'found it'],
      ['compaction', 'agent:claude', 'what was said'],
      ['rejected', 'agent:claude', 'Bash: npm test: not allowed'],
      ['answer', 'agent:claude', 'They pass.'],
      ['failure', 'agent:claude', 'API Error: 400'],
      ['interrupt', me, 'The turn was interrupted.'],
      ['session_end', 'agent:claude', 'The conversation ended (prompt_input_exit).'],
    ]);
    const tool = story.find(({ kind }) => kind === 'tool');
    expect(story.find(({ kind }) => kind === 'interrupt')?.data).toMatchObject({
      turn: 't9',
      vendor: 'codex',
    });
    expect(tool?.result).toMatchObject({ text: 'all green' });
    expect(tool?.data).toMatchObject({ tool: 'Bash', call: 'toolu_1', cwd: '/work', vendor: 'claude' });
    const shown = await hub.client.call('floor:session', { session: session.session_id });
    expect(shown).toMatchObject({ prompts: 1, entries: 15, agent: 'agent:claude' });

    // What nobody knows is kept as it came, and what is known loses nothing.
    const [future] = await wholeTimeline(hub, session.session_id, { kinds: ['other'] });
    const { payload } = await hub.client.call('floor:entry', { entry: future?.entry_id ?? '' });
    expect(payload).toMatchObject({ hook_event_name: 'NobodyKnowsThisYet', future: { field: [1, 2] } });
    const ended = await hub.client.call('floor:entry', { entry: tool?.result?.entry_id ?? '' });
    expect(ended.payload).toMatchObject({
      tool_use_id: 'toolu_1',
      duration_ms: 41,
      tool_response: { stdout: 'all green' },
    });
    const asked = await hub.client.call('floor:entry', { entry: story[2]?.entry_id ?? '' });
    expect(asked.payload).toMatchObject({ prompt_id: 'p1' });
  });

  it('takes what was asked for and is never run for rejected when the next prompt comes', async () => {
    const { session, hook } = await openWindow(hub, 'refuser', 'tales');
    await hook('PreToolUse', { tool_name: 'Bash', tool_input: { command: 'rm x' }, tool_use_id: 't1' });
    await hook('PermissionRequest', { tool_name: 'Bash', tool_input: { command: 'rm x' } });
    await hook('UserPromptSubmit', { prompt: 'do not' });
    await recorded(hub, session.session_id, 5);
    const story = await wholeTimeline(hub, session.session_id);
    expect(kindsOf(story)).toEqual(['joined', 'tool', 'asked', 'rejected', 'prompt']);
  });

  it('pairs tools with their results where the agent has no ids for them', async () => {
    const { session, hook } = await openWindow(hub, 'gem', 'tales');
    const tool = (path: string) => ({ tool_name: 'read_file', tool_input: { path } });
    await hook('BeforeTool', tool('a'), 'gemini');
    await hook('BeforeTool', tool('b'), 'gemini');
    await hook('AfterTool', { ...tool('a'), tool_response: 'text of a' }, 'gemini');
    await hook('AfterTool', { ...tool('b'), tool_response: 'text of b' }, 'gemini');
    await recorded(hub, session.session_id, 5);
    const story = await wholeTimeline(hub, session.session_id, { kinds: ['tool'] });
    expect(story.map(({ text, result }) => [text, result?.text])).toEqual([
      ['read_file: a', 'text of a'],
      ['read_file: b', 'text of b'],
    ]);
  });

  it('has what a tool does and what came of it as a person would read it, however long it is', async () => {
    const { session, hook } = await openWindow(hub, 'reader', 'tales');
    const long = 'x'.repeat(20_000);
    const write = { tool_name: 'Write', tool_input: { file_path: '/src/long.txt', content: long } };
    await hook('PreToolUse', { ...write, tool_use_id: 'w1' });
    await hook('PostToolUse', { ...write, tool_use_id: 'w1', tool_response: { stdout: `ok\n${long}` } });
    const shell = { tool_name: 'run_shell_command', tool_input: { command: 'ls' } };
    const piece = (text: string) => ({ text, bold: false, fg: '#ffffff', bg: '' });
    await hook('BeforeTool', shell, 'gemini');
    await hook(
      ...([
        'AfterTool',
        {
          ...shell,
          tool_response: {
            llmContent: '<untrusted_context>\nOutput: a\nb\n</untrusted_context>',
            returnDisplay: [[piece('a  '), piece('green  ')], [piece('b')], [piece('   ')]],
          },
        },
      ] as const),
      'gemini',
    );
    const list = { tool_name: 'list_directory', tool_input: { dir_path: '/work' } };
    await hook('BeforeTool', list, 'gemini');
    const listed = {
      llmContent: 'Directory listing:\na',
      returnDisplay: { summary: 'Found 1', files: ['a'] },
    };
    await hook('AfterTool', { ...list, tool_response: listed }, 'gemini');
    const gone = { tool_name: 'read_file', tool_input: { file_path: '/none' } };
    await hook('BeforeTool', gone, 'gemini');
    const error = { message: 'File not found: /none', type: 'file_not_found' };
    await hook(
      'AfterTool',
      { ...gone, tool_response: { llmContent: 'E', returnDisplay: 'E', error } },
      'gemini',
    );
    const cat = { tool_name: 'shell', tool_input: { command: 'cat x.json' }, tool_use_id: 'c1' };
    await hook('PreToolUse', cat, 'codex');
    await hook('PostToolUse', { ...cat, tool_response: '{"message":"hi","n":1}' }, 'codex');
    await recorded(hub, session.session_id, 11);
    const story = await wholeTimeline(hub, session.session_id, { kinds: ['tool'] });
    expect(story.map(({ text, result }) => [text, result?.text.slice(0, 30), result?.error])).toEqual([
      ['Write: /src/long.txt', `ok\n${'x'.repeat(27)}`, undefined],
      ['run_shell_command: ls', 'a  green\nb', undefined],
      ['list_directory: /work', 'Directory listing:\na', undefined],
      ['read_file: /none', 'File not found: /none', 'File not found: /none'],
      ['shell: cat x.json', '{"message":"hi","n":1}', undefined],
    ]);
    const { files } = await hub.client.call('floor:changes', { session: session.session_id });
    expect(files).toEqual(['/src/long.txt']);
  });

  it('has no secret in it, nor in anything that is kept of it', async () => {
    const { session, hook } = await openWindow(hub, 'leaky', 'tales');
    const secret = 'ghp_0123456789abcdefghijABCDEFGHIJ012345';
    await hook('UserPromptSubmit', { prompt: `use ${secret}` });
    await recorded(hub, session.session_id, 2);
    await hub.client.call('floor:annotate', {
      ...{ session: session.session_id, kind: 'decision', value: `we use ${secret} everywhere` },
    });
    const [, prompt] = await wholeTimeline(hub, session.session_id);
    expect(prompt?.text).toBe('use [redacted github token]');
    expect(
      JSON.stringify(await hub.client.call('floor:entry', { entry: prompt?.entry_id ?? '' })),
    ).not.toContain(secret);
    const { decisions } = await hub.client.call('floor:decisions', { project: 'tales' });
    expect(decisions[0]?.value).toBe('we use [redacted github token] everywhere');
    for await (const { event, payload } of hub.events('*', { since: 0 })) {
      expect(JSON.stringify(payload)).not.toContain(secret);
      if (event === 'floor:annotated') break;
    }
  });

  it('keeps what is not text, and orders what came late by when it happened', async () => {
    const { id, token, session, hook } = await openWindow(hub, 'odd', 'tales');
    await hook('UserPromptSubmit', { prompt: 'nul \u0000 and half \ud800 of a pair' });
    await recorded(hub, session.session_id, 2);
    const [, first] = await wholeTimeline(hub, session.session_id);
    // A hook that ended before the prompt, and whose file comes after it.
    const head = [
      ...['poly-capture 1', 'agent claude', `pane ${id}`, `token ${token}`],
      ...['tmux', 'parent 1', 'from x', 'tool '],
    ];
    const body = JSON.stringify({
      session_id: 'of-odd',
      hook_event_name: 'UserPromptSubmit',
      prompt: 'earlier',
    });
    const draft = join(hub.home, 'late-1');
    writeFileSync(draft, `${head.join('\n')}\n\n${body}`);
    const then = (Date.parse(first?.at ?? '') - 1) / 1000;
    utimesSync(draft, then, then);
    renameSync(draft, join(hub.dir, 'journal', 'new', 'late-1'));
    await recorded(hub, session.session_id, 3);
    const story = await wholeTimeline(hub, session.session_id, { limit: 1 });
    expect(story.slice(1).map(({ text }) => text)).toEqual(['earlier', 'nul ␀ and half \ufffd of a pair']);
    expect(story[1]?.seq).toBeGreaterThan(story[2]?.seq ?? 0);
    for (const { at, received_at } of story)
      expect(Date.parse(received_at)).toBeGreaterThanOrEqual(Date.parse(at) - 20);
  });
});

describe('which session an event belongs to', () => {
  it('is that of its pane through /clear and /resume, and the conversations are known', async () => {
    const { id, token, session } = await openWindow(hub, 'clearer', 'linked');
    const [first, second] = ['c-1', 'c-2'].map((conversation) => hooksOf(hub, id, token, conversation));
    await first?.('SessionStart', { source: 'startup' });
    await first?.('UserPromptSubmit', { prompt: 'one' });
    await first?.('SessionEnd', { reason: 'clear' });
    await second?.('SessionStart', { source: 'clear' });
    await second?.('UserPromptSubmit', { prompt: 'two' });
    await second?.('SessionEnd', { reason: 'resume' });
    await first?.('SessionStart', { source: 'resume' });
    await first?.('UserPromptSubmit', { prompt: 'three' });
    await recorded(hub, session.session_id, 9);
    const story = await wholeTimeline(hub, session.session_id, { kinds: ['prompt'] });
    expect(story.map(({ text, data }) => [text, data.conversation])).toEqual([
      ['one', 'c-1'],
      ['two', 'c-2'],
      ['three', 'c-1'],
    ]);
    const { bindings } = await hub.client.call('floor:session', { session: session.session_id });
    expect(bindings).toMatchObject([{ pane: 'clearer', vendor: 'claude', conversation: 'c-1' }]);
  });

  it('says where a conversation was before that is resumed in another session', async () => {
    const one = await openWindow(hub, 'was-here', 'linked', 'wanderer');
    await one.hook('UserPromptSubmit', { prompt: 'in the first' });
    await recorded(hub, one.session.session_id, 2);
    await hub.as(one.token).call('floor:leave', {});
    const two = await openWindow(hub, 'is-here', 'linked', 'other');
    await two.hook('UserPromptSubmit', { prompt: 'in the second' });
    await hooksOf(hub, two.id, two.token, 'wanderer')('SessionStart', { source: 'resume' });
    await recorded(hub, two.session.session_id, 3);
    const shown = await hub.client.call('floor:session', { session: two.session.session_id });
    expect(shown.resumed_from).toBe(one.session.session_id);
    const [, , resumed] = await wholeTimeline(hub, two.session.session_id);
    expect(resumed?.data.earlier_session).toBe(one.session.session_id);
  });

  it('is a new one, linked to the old, for a fork', async () => {
    const { id, token, session, hook } = await openWindow(hub, 'forker', 'linked', 'trunk');
    const branch = hooksOf(hub, id, token, 'branch');
    await hook('UserPromptSubmit', { prompt: 'before' });
    await branch('SessionStart', { source: 'fork' });
    await branch('UserPromptSubmit', { prompt: 'behind' });
    // What comes late of the conversation before.
    await hook('Stop', { last_assistant_message: 'late' });
    await recorded(hub, session.session_id, 3);
    const { payload } = await hub.event(
      'floor:opened',
      ({ payload }) => payload.forkedFrom === session.session_id,
    );
    const forked = await hub.client.call('floor:session', { session: String(payload.sessionId) });
    expect(forked).toMatchObject({ forked_from: session.session_id, project: 'linked' });
    await recorded(hub, forked.session_id, 2);
    expect((await wholeTimeline(hub, forked.session_id)).map(({ text }) => text)).toEqual([
      'The conversation began (fork).',
      'behind',
    ]);
    expect((await wholeTimeline(hub, session.session_id)).map(({ text }) => text)).toEqual([
      'agent:forker joined.',
      'before',
      'late',
    ]);
    expect((await hub.as(token).call('floor:status', {})).session?.session_id).toBe(forked.session_id);
  });

  it('goes on in another pane when a conversation is taken up there whose own pane is gone', async () => {
    const { session, hook } = await openWindow(hub, 'ended', 'linked', 'lasting');
    await hook('UserPromptSubmit', { prompt: 'here' });
    await recorded(hub, session.session_id, 2);
    await hub.client.call('pane:close', { paneId: 'ended' });
    await hub.event('floor:left', ({ payload }) => payload.pane === 'ended');
    const token = await hub.paneToken('again');
    await hooksOf(hub, 'again', token, 'lasting')('SessionStart', { source: 'resume' });
    await recorded(hub, session.session_id, 4);
    const { bindings } = await hub.client.call('floor:session', { session: session.session_id });
    expect(bindings).toMatchObject([{ pane: 'again', conversation: 'lasting' }]);
  });

  it('has the words of each where two agents feed one session, and no name that is another’s', async () => {
    const ann = hub.as(await hub.paneToken('ann-pane'));
    await ann.call('mail:register', { name: 'ann', project: 'duet' });
    const { session } = await ann.call('floor:join', { project: 'duet', session: 'both' });
    expect(session.agent).toBe('agent:ann');
    const token = await hub.paneToken('ben-pane');
    const ben = hub.as(token);
    await expect(
      ben.call('floor:join', { project: 'duet', session: 'both', agent: 'ann' }),
    ).rejects.toMatchObject({
      code: 'forbidden',
    });
    await ben.call('floor:join', { project: 'duet', session: 'both', agent: 'ben' });
    await hooksOf(hub, 'ben-pane', token, 'b')('Stop', { last_assistant_message: 'by ben' });
    await recorded(hub, session.session_id, 3);
    const story = await wholeTimeline(hub, session.session_id);
    expect(story.map(({ kind, sender }) => [kind, sender])).toEqual([
      ['joined', 'agent:ann'],
      ['joined', 'agent:ben'],
      ['answer', 'agent:ben'],
    ]);
  });

  it('is none for an agent that has not joined, has left, or runs as the tool of another', async () => {
    const { id, token, session, hook } = await openWindow(hub, 'leaver', 'linked', 'mine');
    await hub.as(token).call('floor:leave', {});
    await hook('UserPromptSubmit', { prompt: 'private' });
    const stranger = hooksOf(hub, 'nobody', 'no-token', 'mine');
    await stranger('UserPromptSubmit', { prompt: 'forged' });
    const joined = await hub.as(token).call('floor:join', { project: 'linked', session: session.slug });
    expect(joined.session.session_id).toBe(session.session_id);
    await hook('UserPromptSubmit', { prompt: 'shared' });
    await recorded(hub, session.session_id, 4);
    expect(kindsOf(await wholeTimeline(hub, session.session_id))).toEqual([
      'joined',
      'left',
      'joined',
      'prompt',
    ]);
    expect(id).toBe('leaver');
  });
});
