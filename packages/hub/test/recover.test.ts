import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ClaudeTranscript, damage as damageIn, recover } from './recover-ground.ts';
import { TestHub } from './test-hub.ts';
import { leaveHook, openWindow, recorded, type Window, wholeTimeline } from './timeline-ground.ts';

let hub: TestHub;
beforeAll(async () => {
  hub = await TestHub.start();
}, 60_000);
afterAll(() => hub[Symbol.asyncDispose]());

const damage = (sql: string, ...values: readonly unknown[]): number => damageIn(hub.dir, sql, ...values);

/** Puts the beginning of what feeds a session back by an hour, so that there is a past to bring back. */
const since = (window: Window): number => {
  const from = Date.now() - 3_600_000;
  damage('UPDATE floor_bindings SET from_at = ? WHERE session = ?', from, window.session.session_id);
  return from;
};

const bash = (id: string) => ({ tool_name: 'Bash', tool_input: { command: 'make' }, tool_use_id: id });

/** A session of a conversation that its agent has kept, with a prompt that its hooks told. */
async function begun(name: string): Promise<{ window: Window; kept: ClaudeTranscript; from: number }> {
  const conversation = `conversation-${name}`;
  const window = await openWindow(hub, name, 'tales', conversation);
  const kept = new ClaudeTranscript(hub, conversation);
  await window.hook('UserPromptSubmit', { prompt: 'the first', prompt_id: 'p1', transcript_path: kept.path });
  await recorded(hub, window.session.session_id, 2);
  return { window, kept, from: since(window) };
}

const textsOf = async ({ session }: Window): Promise<readonly string[]> =>
  (await wholeTimeline(hub, session.session_id)).map(({ kind, text }) => `${kind}: ${text}`);

describe('recover', { timeout: 120_000 }, () => {
  it('brings back 100 entries that are gone, and finds nothing the second time', async () => {
    const window = await openWindow(hub, 'hundred', 'tales');
    for (let n = 0; n < 50; n++) {
      await window.hook('PreToolUse', bash(`t${n}`));
      await window.hook('PostToolUse', { ...bash(`t${n}`), tool_response: `made ${n}` });
    }
    await recorded(hub, window.session.session_id, 101);
    const before = await wholeTimeline(hub, window.session.session_id);
    const { session_id: session } = window.session;
    expect(damage('DELETE FROM timeline WHERE session = ? AND capture IS NOT NULL', session)).toBe(100);

    const looked = await recover(hub, { session, dry_run: true });
    expect(looked).toMatchObject({ restored: 0, sessions: [{ from_record: 100, from_transcripts: 0 }] });
    expect(await wholeTimeline(hub, session)).toHaveLength(1);
    expect(await recover(hub, { session })).toMatchObject({ restored: 100, looked_at: 1 });
    const after = await wholeTimeline(hub, session, { kinds: ['joined', 'tool'] });
    expect(after.map(({ text, at, result }) => [text, at, result?.text])).toEqual(
      before.map(({ text, at, result }) => [text, at, result?.text]),
    );
    expect(after.some(({ reconstructed }) => reconstructed)).toBe(false);
    expect(await recover(hub, { session })).toMatchObject({ restored: 0, sessions: [] });
    // One line for whoever follows, and a count that is true.
    const [notice, ...more] = await wholeTimeline(hub, session, { kinds: ['notice'] });
    expect([notice?.text, more]).toEqual(['What was missing was filled in: 100 from the record.', []]);
    expect(await hub.client.call('floor:session', { session })).toMatchObject({ entries: 102 });
  });

  it('fills in from the transcript what no hook told: into the session that was fed then, marked, once', async () => {
    const { window, kept, from } = await begun('lost');
    const secret = 'ghp_0123456789abcdefghijABCDEFGHIJ012345';
    kept.prompt('long before it joined', from - 1_000);
    kept.prompt(`run it with ${secret}`, from + 1_000, 'p0');
    kept.tool('toolu_a', 'make', from + 2_000);
    kept.result('toolu_a', 'made it', from + 3_000);
    kept.answer('It is made.', from + 4_000, 'p0');
    kept.prompt('the first', Date.now() - 30_000, 'p1');
    // As young as can be, however long this takes.
    kept.prompt('a moment ago, its hook may still come', Date.now() + 600_000, 'p2');
    expect(await recover(hub, { session: window.session.session_id })).toMatchObject({
      restored: 4,
      sessions: [{ transcripts: [{ vendor: 'claude', path: kept.path, events: 5, missing: 4 }] }],
    });
    const me = window.session.driver ?? '';
    const story = await wholeTimeline(hub, window.session.session_id, {
      kinds: ['prompt', 'tool', 'answer'],
    });
    expect(story.map(({ kind, sender, text, reconstructed }) => [kind, sender, text, reconstructed])).toEqual(
      [
        ['prompt', me, 'run it with [redacted github token]', true],
        ['tool', 'agent:claude', 'Bash: make', true],
        ['answer', 'agent:claude', 'It is made.', true],
        ['prompt', me, 'the first', undefined],
      ],
    );
    expect(story[1]?.result?.text).toBe('made it');
    expect(story[0]?.at).toBe(new Date(from + 1_000).toISOString());
    const { payload } = await hub.client.call('floor:entry', { entry: story[0]?.entry_id ?? '' });
    expect(payload).toMatchObject({ hook_event_name: 'UserPromptSubmit', prompt_id: 'p0', cwd: '/work' });
    expect(JSON.stringify(payload)).not.toContain(secret);
    expect(await recover(hub)).toMatchObject({ restored: 0, sessions: [] });
  });

  it('finds what is missing among equals', async () => {
    const { window, kept, from } = await begun('equals');
    for (let n = 0; n < 5; n++) kept.prompt('go on', from + n * 60_000);
    await recover(hub, { session: window.session.session_id });
    const again = await wholeTimeline(hub, window.session.session_id, { kinds: ['prompt'] });
    expect(again).toHaveLength(6);
    const lost = again[2];
    damage('DELETE FROM captures WHERE id = (SELECT capture FROM timeline WHERE id = ?)', lost?.entry_id);
    damage('DELETE FROM timeline WHERE id = ?', lost?.entry_id);
    expect(await recover(hub, { pane: 'equals' })).toMatchObject({ restored: 1 });
    const back = await wholeTimeline(hub, window.session.session_id, { kinds: ['prompt'] });
    expect(back.map(({ at }) => at)).toEqual(again.map(({ at }) => at));
  });

  it('knows what timelines tell, though its capture is gone', async () => {
    const { window, kept } = await begun('capture-gone');
    kept.prompt('the first', Date.now() - 20_000, 'p1');
    damage("DELETE FROM captures WHERE session = 'conversation-capture-gone'");
    expect(await recover(hub, { pane: 'capture-gone' })).toMatchObject({ restored: 0, looked_at: 1 });
    expect(await textsOf(window)).toEqual(['joined: agent:capture-gone joined.', 'prompt: the first']);
  });

  it('is not told again by hooks that come late, of two installations either', async () => {
    const { window, kept, from } = await begun('late');
    kept.prompt('told late', from + 1_000, 'p7');
    kept.tool('toolu_late', 'make', from + 2_000);
    kept.result('toolu_late', 'made', from + 3_000);
    kept.answer('Late, too.', from + 4_000, 'p7');
    expect(await recover(hub, { pane: 'late' })).toMatchObject({ restored: 4 });
    const before = await textsOf(window);
    const tool = { tool_name: 'Bash', tool_input: { command: 'make' }, tool_use_id: 'toolu_late' };
    const hooks = [
      { hook_event_name: 'UserPromptSubmit', prompt: 'told late', prompt_id: 'p7' },
      { hook_event_name: 'PreToolUse', ...tool },
      { hook_event_name: 'PostToolUse', ...tool, tool_response: { stdout: 'made', stderr: '' } },
      { hook_event_name: 'Stop', last_assistant_message: 'Late, too.', prompt_id: 'p7' },
    ];
    for (const origin of ['/hooks/capture.sh', '/plugin/capture.sh'])
      for (const [n, hook] of hooks.entries())
        leaveHook(
          hub,
          window,
          `${origin.slice(1, 3)}-${n}`,
          { session_id: kept.conversation, ...hook },
          { at: from + n * 1_000 + 1_200, origin },
        );
    await window.hook('UserPromptSubmit', { prompt: 'and on it goes', prompt_id: 'p8' });
    await recorded(hub, window.session.session_id, 8);
    expect(await textsOf(window)).toEqual([...before, 'prompt: and on it goes']);
    // What truly happened twice is told twice.
    const again = { session_id: kept.conversation, ...hooks[0], prompt_id: 'p9' };
    leaveHook(hub, window, 'truly', again, { at: from + 50_000, origin: '/hooks/capture.sh' });
    await recorded(hub, window.session.session_id, 9);
    expect(await recover(hub, { pane: 'late' })).toMatchObject({ restored: 0 });
  });

  it('does it once, by as many at a time as want to', async () => {
    const { window, kept, from } = await begun('crowd');
    for (let n = 0; n < 250; n++) kept.prompt(`prompt ${n}`, from + n * 1_000, `c${n}`);
    const session = window.session.session_id;
    const all = await Promise.all(Array.from({ length: 5 }, () => recover(hub, { session })));
    expect(all.map(({ restored }) => restored).sort((a, b) => b - a)).toEqual([250, 0, 0, 0, 0]);
    const story = await wholeTimeline(hub, session, { kinds: ['prompt'] });
    expect(new Set(story.map(({ text }) => text)).size).toBe(251);
    expect(story).toHaveLength(251);
  });

  it('says whose prompt it was by who drove then', async () => {
    const { window, kept, from } = await begun('drivers');
    const session = window.session.session_id;
    await hub.client.call('person:invite', { name: 'ada' });
    await hub.client.call('floor:handoff', { session, to: '@ada' });
    damage(
      "UPDATE timeline SET occurred_at = ? WHERE session = ? AND kind = 'handoff'",
      from + 5_000,
      session,
    );
    kept.prompt('by the user', from + 1_000, 'd1');
    kept.prompt('by ada', from + 9_000, 'd2');
    await recover(hub, { session });
    const story = await wholeTimeline(hub, session, { kinds: ['prompt'] });
    expect(story.map(({ text, sender }) => [text, sender])).toEqual([
      ['by the user', window.session.driver],
      ['by ada', 'user:ada'],
      ['the first', window.session.driver],
    ]);
  });

  it('does not bring back what a project no longer keeps', async () => {
    const window = await openWindow(hub, 'brief', 'brief', 'conversation-brief');
    const kept = new ClaudeTranscript(hub, 'conversation-brief');
    await window.hook('UserPromptSubmit', { prompt: 'now', prompt_id: 'b0', transcript_path: kept.path });
    await recorded(hub, window.session.session_id, 2);
    const day = 86_400_000;
    damage('UPDATE floor_bindings SET from_at = 1 WHERE session = ?', window.session.session_id);
    await hub.client.call('project:retention', { project: 'brief', days: 2 });
    kept.prompt('three days ago', Date.now() - 3 * day, 'b1');
    kept.prompt('yesterday', Date.now() - day, 'b2');
    expect(await recover(hub, { pane: 'brief' })).toMatchObject({ restored: 1 });
    expect((await textsOf(window))[0]).toBe('prompt: yesterday');
  });

  it('takes in what lies dead in the journal and can be read, and says what cannot', async () => {
    const { window, from } = await begun('buried');
    const risen = { session_id: 'conversation-buried', hook_event_name: 'UserPromptSubmit', prompt: 'risen' };
    leaveHook(hub, window, 'was-dead', risen, { at: from + 1_000, folder: 'dead' });
    writeFileSync(join(hub.dir, 'journal', 'dead', 'noise'), 'no capture at all');
    execFileSync('mkfifo', [join(hub.dir, 'journal', 'dead', 'pipe')]);
    mkdirSync(join(hub.dir, 'journal', 'dead', 'folder'));
    const looked = await recover(hub, { dry_run: true });
    expect(looked.journal).toMatchObject({ revived: 1 });
    expect(looked.journal.dead.map(({ name }) => name).sort()).toEqual(['folder', 'noise', 'pipe']);
    expect((await recover(hub)).journal.revived).toBe(1);
    expect(await textsOf(window)).toContain('prompt: risen');
    const second = await recover(hub);
    expect([second.journal.revived, second.restored]).toEqual([0, 0]);
    for (const name of readdirSync(join(hub.dir, 'journal', 'dead')))
      rmSync(join(hub.dir, 'journal', 'dead', name), { recursive: true });
  });

  it.each<readonly [string, (path: string) => void, RegExp]>([
    [
      'a link',
      (path) => {
        renameSync(path, `${path}.real`);
        symlinkSync(`${path}.real`, path);
      },
      /it is a link/,
    ],
    [
      'a pipe',
      (path) => {
        rmSync(path);
        execFileSync('mkfifo', [path]);
      },
      /it is no file/,
    ],
    [
      'a folder',
      (path) => {
        rmSync(path);
        mkdirSync(path);
      },
      /it is no file/,
    ],
    ...(process.getuid?.() === 0
      ? [
          [
            'of another user',
            (path: string) => {
              chmodSync(path, 0o644);
              chownSync(path, 4242, 4242);
            },
            /it belongs to another user/,
          ] as const,
        ]
      : []),
  ])('refuses a transcript that is %s, with a word', async (what, spoil, word) => {
    const name = `spoilt-${what.replaceAll(' ', '-')}`;
    const { window, kept, from } = await begun(name);
    kept.prompt('must not be read', from + 1_000, 'x1');
    spoil(kept.path);
    const found = await recover(hub, { session: window.session.session_id });
    expect(found.restored).toBe(0);
    expect(found.sessions[0]?.transcripts[0]?.problem).toMatch(word);
    rmSync(kept.path, { recursive: true, force: true });
  });

  it('passes over lines that are no lines of a transcript, and says so', async () => {
    const { window, kept, from } = await begun('noisy');
    kept.raw('not json\n\n[]\n"text"\n{"type":"user"}\n');
    kept.raw(`${'['.repeat(200_000)}${']'.repeat(200_000)}\n`);
    kept.line(
      'user',
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'deep', content: 'x' }] },
      from + 500,
      {
        toolUseResult: JSON.parse(`${'['.repeat(2_000)}${']'.repeat(2_000)}`) as unknown,
      },
    );
    kept.raw(
      `{"type":"user","uuid":"deep","sessionId":"${kept.conversation}","timestamp":"${new Date(from + 600).toISOString()}","message":{"content":[{"type":"tool_result","tool_use_id":"d2","content":"y"}]},"toolUseResult":${'['.repeat(100_000)}${']'.repeat(100_000)}}\n`,
    );
    kept.line('user', { role: 'user', content: 'of another conversation' }, from + 700, {
      sessionId: 'another',
    });
    kept.line('user', { role: 'user', content: 'of a subagent' }, from + 800, { isSidechain: true });
    kept.prompt('nul \u0000 and half \ud800 of a pair', from + 1_000, 'n1');
    kept.raw(`{"type":"user","uuid":"torn","sessionId":"${kept.conversation}","timesta`);
    const found = await recover(hub, { session: window.session.session_id });
    expect(found.sessions[0]?.transcripts[0]?.problem).toMatch(/line 1 is no JSON/);
    const texts = await textsOf(window);
    expect(texts).toContain('prompt: nul ␀ and half \ufffd of a pair');
    expect(texts.filter((text) => /another|subagent/.test(text))).toEqual([]);
    expect((await recover(hub, { session: window.session.session_id })).restored).toBe(0);
    rmSync(kept.path);
  });

  it('reads no file that a hook names and that is no transcript of this conversation', async () => {
    const window = await openWindow(hub, 'liar', 'tales', 'conversation-liar');
    const other = new ClaudeTranscript(hub, 'conversation-elsewhere');
    await window.hook('UserPromptSubmit', { prompt: 'mine', prompt_id: 'l1', transcript_path: other.path });
    await recorded(hub, window.session.session_id, 2);
    const from = since(window);
    other.line('user', { role: 'user', content: 'of somebody else' }, from + 1_000, {
      sessionId: 'conversation-liar',
    });
    const found = await recover(hub, { session: window.session.session_id });
    expect(found).toMatchObject({ restored: 0, sessions: [] });
  });

  it('goes on where it was killed', async () => {
    const { window, kept, from } = await begun('killed');
    for (let n = 0; n < 350; n++) kept.prompt(`prompt ${n}`, from + n * 1_000, `k${n}`);
    const session = window.session.session_id;
    const first = recover(hub, { session }).catch(() => undefined);
    await recorded(hub, session, 102);
    await hub.kill('SIGKILL');
    await first;
    await hub.start();
    await Promise.all([recover(hub, { session }), recover(hub, { session })]);
    const story = await wholeTimeline(hub, session, { kinds: ['prompt'] });
    expect(story).toHaveLength(351);
    expect(new Set(story.map(({ text }) => text)).size).toBe(351);
    expect(await recover(hub, { session })).toMatchObject({ restored: 0, sessions: [] });
  });

  it('is for the user alone, and says what was wrong with what was asked', async () => {
    const token = await hub.paneToken('nosy');
    await expect(hub.as(token).call('floor:recover', {})).rejects.toMatchObject({ code: 'forbidden' });
    await expect(recover(hub, { session: 'none-such' })).rejects.toMatchObject({ code: 'not_found' });
    await expect(recover(hub, { pane: 'nosy' })).rejects.toMatchObject({ code: 'not_found' });
    await expect(recover(hub, { pane: 'nosy', session: 'x' })).rejects.toMatchObject({
      code: 'invalid_arguments',
    });
  });
});
