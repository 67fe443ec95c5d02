import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { CliGround } from './cli-ground.ts';
import { damage } from './recover-ground.ts';

const ground = new CliGround();
beforeAll(() => ground.ok('up'), 60_000);
afterAll(() => ground[Symbol.asyncDispose]());

const record = (session: string, payload: object, more: object = {}) =>
  ground.ok('action', 'floor:record', '--body', JSON.stringify({ session, payload, ...more }));

it('makes, renames, tags, keeps and forgets projects', async () => {
  expect(await ground.ok('project', 'create', 'shop', '--tag', 'web,data')).toBe('shop\n');
  expect(await ground.ok('project', 'rename', 'shop', 'boutique')).toBe(
    'It is boutique now; shop still leads to it.\n',
  );
  expect(await ground.ok('project', 'tag', 'shop', 'new', '--remove', 'web')).toBe('data, new\n');
  expect(await ground.ok('project', 'show', 'shop')).toMatch(/project +boutique\nalso +shop\nkey +shop\n/);
  expect(await ground.ok('project', 'list')).toMatch(/^boutique +0 +data, new\n$/);
  expect(await ground.ok('project', 'retention', 'shop', '90')).toBe('boutique keeps 90 days.\n');
  expect(await ground.ok('project', 'retention', 'shop', 'forever')).toBe('boutique keeps everything.\n');
  expect(await ground.ok('project', 'archive', 'shop')).toBe('boutique is archived.\n');
  expect(await ground.ok('project', 'archive', 'shop', '--undo')).toBe('boutique is there again.\n');
  const unasked = await ground.run(['project', 'delete', 'shop']);
  expect([unasked.code, unasked.stderr]).toEqual([4, expect.stringContaining('Say --yes to do it.')]);
  expect(await ground.ok('project', 'delete', 'shop', '--yes')).toBe(
    '0 sessions with 0 entries are forgotten.\n',
  );
  expect((await ground.run(['project', 'show', 'shop'])).code).toBe(3);
  expect((await ground.run(['project', 'retention', 'shop', 'soon'])).code).toBe(2);
  expect((await ground.run(['project', 'create', 'no spaces'])).code).toBe(2);
});

it('joins with a pane, follows, marks, searches and exports what happens, and leaves', async () => {
  await ground.ok('run', '--name', 'worker', '--', 'cat');
  const joined = await ground.run([
    'join',
    'tales',
    '--session',
    'one',
    '--pane',
    'worker',
    '--agent',
    'dean',
  ]);
  expect([joined.code, joined.stdout]).toEqual([0, 'Began tales/one.\n']);
  expect(await ground.ok('floor', 'status', '--pane', 'worker', '--line')).toMatch(/^tales\/one · user:/);
  expect(await ground.ok('floor', 'status')).toMatch(
    /feeds no session: poly join PROJECT\n\d+ projects, 1 sessions, 1 of them live/,
  );
  await record('one', { hook_event_name: 'UserPromptSubmit', prompt: 'sing \u001b[31mred\u202e songs' });
  const tool = { tool_name: 'Bash', tool_input: { command: 'play' }, tool_use_id: 't' };
  await record('one', { hook_event_name: 'PreToolUse', ...tool });
  await record('one', {
    hook_event_name: 'PostToolUse',
    ...tool,
    tool_response: { stdout: '``` la\n# not a heading' },
  });
  await record('one', { hook_event_name: 'Stop', last_assistant_message: 'sung' });
  const story = await ground.ok('floor', 'timeline', 'one');
  expect(story).toMatch(/ {2}agent:dean {2}joined {2}ent_[0-9a-f]{16}\n/);
  expect(story).toContain('  sing \\u{1b}[31mred\\u{202e} songs\n');
  expect(story).toMatch(/ {2}Bash: play\n {2}→ ``` la\n {4}# not a heading\n/);
  const { entries } = await ground.json<{ entries: readonly { entry_id: string; kind: string }[] }>(
    'floor',
    'timeline',
    'one',
    '--kinds',
    'answer,prompt',
  );
  expect(entries.map(({ kind }) => kind)).toEqual(['prompt', 'answer']);
  const answer = entries[1]?.entry_id ?? '';
  const marks = await ground.ok(
    'floor',
    'mark',
    'one',
    answer,
    '--star',
    '--tag',
    'Art',
    '--decision',
    'We sing.',
  );
  expect(marks).toMatch(/^(ann_[0-9a-f]{16}\n){3}$/);
  expect(await ground.ok('floor', 'decisions', '--project', 'tales')).toMatch(
    /^tales\/one {2}We sing\. {2}user:/,
  );
  expect(await ground.ok('floor', 'search', 'so*', 'sing')).toMatch(
    /^tales\/one {2}user:\S+ {2}prompt .*\n {2}sing/,
  );
  expect(await ground.ok('floor', 'search', 'sung', '--tag', 'art')).toContain('sung');
  expect(await ground.ok('floor', 'changes', 'one')).toMatch(/^Since you last drove/);
  expect(await ground.ok('floor', 'changes', 'one', '--all')).toContain('Answered last\n  sung\n');
  expect(await ground.ok('floor', 'label', 'one', 'Songs')).toBe('tales/one: Songs\n');
  expect(await ground.ok('floor', 'sessions')).toMatch(
    /^tales\/one +user:\S+ +agent:dean +1 +\d+s +Songs\n$/,
  );
  expect(await ground.ok('floor', 'team', '--project', 'tales')).toMatch(
    /^user:.*tales\/one\nagent:dean.*tales\/one\n$/,
  );
  expect(await ground.ok('floor', 'reply', 'bravo', '--session', 'one')).toMatch(/^ent_/);

  const markdown = await ground.ok('project', 'export', 'tales');
  expect(markdown).toMatch(/^# tales \/ one: Songs\n\n- Agent: agent:dean\n/);
  expect(markdown).toContain('````\n``` la\n# not a heading\n````\n');
  expect(markdown).toContain('Decided: We sing.\n');
  const exported = JSON.parse(await ground.ok('project', 'export', 'tales', '--format', 'json'));
  expect(exported.sessions[0].entries.map(({ kind }: { kind: string }) => kind)).toEqual([
    ...['joined', 'prompt', 'tool', 'answer', 'reply'],
  ]);
  expect(JSON.parse(await ground.ok('floor', 'export', 'one', '--json')).annotations).toHaveLength(3);

  expect(await ground.ok('leave', '--pane', 'worker')).toBe('Left tales/one.\n');
  expect(await ground.ok('leave', '--pane', 'worker')).toBe('There was no session to leave.\n');
  expect(await ground.ok('floor', 'archive', 'one')).toBe('tales/one is archived.\n');
  expect((await ground.run(['floor', 'search', 'sung'])).stderr).toBe('Nothing has these words.\n');
  expect(await ground.ok('floor', 'delete', 'one', '--yes')).toBe('7 entries are forgotten.\n');
});

it('follows a session with what happens', async () => {
  await ground.ok('action', 'floor:open', '--project', 'tales', '--name', 'live');
  await record('live', { hook_event_name: 'UserPromptSubmit', prompt: 'before' });
  const child = spawn(process.execPath, [ground.program, 'floor', 'timeline', 'live', '-f', '--json'], {
    ...{ env: ground.env, cwd: ground.home, stdio: ['ignore', 'pipe', 'inherit'] },
  });
  const texts: string[] = [];
  try {
    for await (const line of createInterface({ input: child.stdout as Readable })) {
      texts.push((JSON.parse(line) as { text: string }).text);
      if (texts.length === 1)
        await record('live', { hook_event_name: 'Stop', last_assistant_message: 'behind' });
      if (texts.length === 2) break;
    }
  } finally {
    child.kill();
  }
  expect(texts).toEqual(['before', 'behind']);
});

it('joins the conversation of the agent that runs it, outside of panes', async () => {
  const env = { CLAUDE_CODE_SESSION_ID: 'c0ffee' };
  const joined = await ground.run(['join', 'tales', '--json'], { env });
  expect(JSON.parse(joined.stdout).session.bindings).toMatchObject([
    { vendor: 'claude', conversation: 'c0ffee' },
  ]);
  expect((await ground.run(['floor', 'status', '--line'], { env })).stdout).toMatch(
    /^tales\/s-[0-9a-f]{4} · user:/,
  );
  expect((await ground.run(['floor', 'status', '--line'])).stdout).toBe('');
});

it('says what is wrong with its exit code, and what to do', async () => {
  const nowhere = await ground.run(['join', 'tales']);
  expect([nowhere.code, nowhere.stderr]).toEqual([2, expect.stringMatching(/in no pane.*--pane/s)]);
  for (const [args, code] of [
    [['floor', 'timeline', 'nothing'], 3],
    [['floor', 'timeline', 's', '--kinds', 'wishes'], 2],
    [['floor', 'entry', 'ent_0'], 3],
    [['floor', 'mark', 'one'], 2],
    [['floor', 'reply', 'x'], 4],
    [['project', 'export', 'nothing'], 3],
    [['floor', 'export', 'nothing', '--format', 'pdf'], 2],
  ] as const)
    expect([args, (await ground.run(args)).code]).toEqual([args, code]);
});

it('shows nothing of what a program said that a terminal would obey, in a digest or an export', async () => {
  await ground.ok('action', 'floor:open', '--project', 'loud', '--name', 'shouts');
  const evil = '\x1b]52;c;ZXZpbA==\x07\x1b[2J\u202efdp';
  await record('shouts', { hook_event_name: 'UserPromptSubmit', prompt: `Look: ${evil}` });
  await ground.ok('handoff', 'shouts');
  await record('shouts', { hook_event_name: 'Stop', last_assistant_message: `Seen: ${evil}` });
  const shown = [
    await ground.ok('floor', 'digest', 'shouts'),
    await ground.ok('claim', 'shouts'),
    await ground.ok('floor', 'export', 'shouts'),
    await ground.ok('project', 'export', 'loud'),
  ];
  for (const text of shown) {
    expect(text).toContain('Seen: \\u{1b}]52');
    expect(text).not.toMatch(/[^\P{Cc}\n\t]|\u202e/u);
  }
});

it('says what is missing and what was filled in, and what is wrong with what was asked', async () => {
  await ground.ok('run', '--name', 'loser', '--', 'cat');
  await ground.run(['join', 'gaps', '--session', 'holey', '--pane', 'loser', '--agent', 'dean']);
  await record('holey', { hook_event_name: 'UserPromptSubmit', prompt: 'hold on' });
  damage(ground.env.POLY_HOME ?? '', "DELETE FROM timeline WHERE text = 'hold on'");
  expect(await ground.ok('recover', '--project', 'gaps', '--dry-run')).toBe(
    'gaps/holey: 1 missing from the record, 0 told by no hook.\n1 missing in 1 session.\n',
  );
  expect(await ground.ok('recover', '--session', 'holey')).toBe(
    'gaps/holey: 1 missing from the record, 0 told by no hook.\n1 filled in, in 1 session.\n',
  );
  expect(await ground.ok('recover', '--pane', 'loser')).toBe('Nothing is missing in 1 session.\n');
  expect(JSON.parse(await ground.ok('recover', '--all', '--json'))).toMatchObject({ restored: 0 });
  const both = await ground.run(['recover', '--all', '--session', 'holey']);
  expect([both.code, both.stderr]).toEqual([2, expect.stringContaining('--all was given with')]);
  expect((await ground.run(['recover', '--session', 'none-such'])).code).toBe(3);
});

it('renames the project of a session in its own pane', async () => {
  const poly = `"${process.execPath}" "${ground.program}"`;
  const script = `${poly} join naming; ${poly} floor rename named; exec cat`;
  await ground.ok('run', '--name', 'namer', '--', 'sh', '-c', script);
  await ground.ok('wait', 'namer', '--text', 'It is named now', '--since', '0', '--timeout', '60');
  expect(await ground.ok('project', 'show', 'naming')).toMatch(/project +named/);
}, 90_000);

it('draws a status line only where a hub answers, and is silent else', async () => {
  const line = ['floor', 'status', '--line', '--pane', 'worker'];
  const silent = { code: 0, stdout: '', stderr: '' };
  const { pid } = JSON.parse(await ground.ok('server', 'status', '--json')) as { pid: number };
  process.kill(pid, 'SIGSTOP');
  try {
    expect(await ground.run(line)).toMatchObject(silent);
  } finally {
    process.kill(pid, 'SIGCONT');
  }
  expect(await ground.run(['floor', 'status', '--line', '--pane', 'none-such'])).toMatchObject(silent);
  process.kill(pid, 'SIGKILL');
  expect(await ground.run(line)).toMatchObject(silent);
  // None was started for it.
  expect((await ground.run(['server', 'stop'])).code).toBe(6);
  const away = await ground.run(line, { env: { POLY_HOME: '/nowhere/at/all' } });
  expect(away).toMatchObject(silent);
}, 60_000);
