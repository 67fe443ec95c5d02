import { expect, test } from 'vitest';
import { MemoryEngine } from './engine.ts';

async function run(engine: MemoryEngine, ...argv: readonly string[]): Promise<string> {
  const { stdout, stderr } = await engine.run({ argv });
  return stdout + stderr;
}

async function started(): Promise<MemoryEngine> {
  const engine = new MemoryEngine();
  await run(engine, 'new-session', '-d', '-s', 'work', '-n', 'first', '-x', '40', '-y', '4');
  return engine;
}

test('it stands for the version it was given', async () => {
  expect(await new MemoryEngine({ version: '3.4' }).version()).toMatchObject({ major: 3, minor: 4 });
});

test('what was typed stands on the screen, and what left it at the top in the history', async () => {
  const engine = await started();
  await run(engine, 'send-keys', '-t', '%0', 'echo one', 'Space', 'Enter');
  await run(engine, 'send-keys', '-t', '%0', '-l', '--', '-Enter');
  expect(await run(engine, 'capture-pane', '-p', '-t', '%0')).toBe('echo one\n-Enter\n\n\n');
  await run(engine, 'send-keys', '-t', '%0', '-N', '3', 'Enter');
  await run(engine, 'set-buffer', '-b', 'note', 'pasted\ntext');
  await run(engine, 'paste-buffer', '-b', 'note', '-t', '%0', '-d');
  expect(await run(engine, 'capture-pane', '-p', '-t', '%0')).toBe('\n\npasted\ntext\n');
  expect(await run(engine, 'capture-pane', '-p', '-S', '-', '-E', '-1', '-t', '%0')).toBe(
    'echo one\n-Enter\n',
  );
  expect(await run(engine, 'show-buffer', '-b', 'note')).toBe('no buffer note\n');
  await run(engine, 'clear-history', '-t', '%0');
  expect(
    await run(engine, 'display-message', '-p', '-t', '%0', '#{history_size} #{cursor_x},#{cursor_y}'),
  ).toBe('0 4,3\n');
});

test('a linked window is one window in two places, and lives as long as one of them', async () => {
  const engine = await started();
  await run(engine, 'new-session', '-d', '-s', 'other');
  await run(engine, 'link-window', '-d', '-s', '@0', '-t', '=other:7');
  await run(engine, 'rename-window', '-t', '=other:7', 'shared');
  const listed = [
    'list-windows',
    '-a',
    '-F',
    '#{session_name}:#{window_index} #{window_name} #{window_linked}',
  ];
  expect(await run(engine, ...listed)).toBe('other:0 sh 0\nother:7 shared 1\nwork:0 shared 1\n');
  await run(engine, 'kill-session', '-t', '=work:');
  expect(await run(engine, ...listed)).toBe('other:0 sh 0\nother:7 shared 0\n');
});

test('kill-server, or the end of the last session, leaves nothing behind', async () => {
  for (const ending of [['kill-server'], ['kill-session', '-t', '=work:'], ['kill-pane', '-t', '%0']]) {
    const engine = await started();
    await run(engine, 'set-buffer', '-b', 'note', 'text');
    await run(engine, ...ending);
    expect(await run(engine, 'list-sessions')).toBe('no server running on memory\n');
    expect(await run(engine, 'new-session', '-d', '-P', '-F', '#{session_id} #{window_id} #{pane_id}')).toBe(
      '$0 @0 %0\n',
    );
    expect(await run(engine, 'list-buffers')).toBe('');
  }
});

test('a command it does not know, or that is misspelt, fails in the words of tmux', async () => {
  const engine = await started();
  expect(await run(engine, 'choose-tree')).toBe('unknown command: choose-tree\n');
  expect(await run(engine, 'kill-pane', '-Q')).toBe('command kill-pane: unknown flag -Q\n');
  expect(await run(engine, 'kill-pane', '-t')).toBe('command kill-pane: -t expects an argument\n');
  expect(await run(engine, 'rename-window')).toBe(
    'command rename-window: too few arguments (need at least 1)\n',
  );
  expect(await run(engine, 'kill-pane', 'x')).toBe(
    'command kill-pane: too many arguments (need at most 0)\n',
  );
  expect(await run(engine, 'constructor')).toBe('unknown command: constructor\n');
});

test('targets are found by id, exact name, index and place, and by an unambiguous beginning only when not exact', async () => {
  const engine = await started();
  await run(engine, 'split-window', '-h', '-t', '%0');
  await run(engine, 'new-window', '-d', '-t', '=work:', '-n', 'second');
  const at = (target: string): Promise<string> => run(engine, 'list-panes', '-t', target, '-F', '#{pane_id}');
  expect(await at('=work:=second')).toBe('%2\n');
  expect(await at('$0:1')).toBe('%2\n');
  expect(await at('$0:{end}')).toBe('%2\n');
  expect(await at('work:sec')).toBe('%2\n');
  expect(await at('=wor:')).toBe("can't find session: wor\n");
  expect(await at('=work:=sec')).toBe("can't find window: sec\n");
  const pane = (target: string): Promise<string> =>
    run(engine, 'display-message', '-p', '-t', target, '#{pane_id}');
  expect(await pane('@0.{left}')).toBe('%0\n');
  expect(await pane('@0.{right-of}')).toBe('%0\n');
  expect(await pane('@0.1')).toBe('%1\n');
  expect(await run(engine, 'kill-pane', '-t', '@0.{up-of}')).toBe("can't find pane: {up-of}\n");
});

test('a closed engine answers nothing more', async () => {
  const engine = await started();
  await engine.close();
  await expect(engine.run({ argv: ['list-sessions'] })).rejects.toMatchObject({ code: 'engine_closed' });
});
