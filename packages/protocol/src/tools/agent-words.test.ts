import { expect, it } from 'vitest';
import { inAgentWords } from './agent-words.ts';

const has =
  (...tools: readonly string[]) =>
  (tool: string) =>
    tools.includes(tool);

it.each([
  ['poly ls shows every pane.', 'pty_list shows every pane.'],
  ['poly action pane:read --help shows what it takes.', 'Its input schema says what it takes.'],
  [
    'To replace it, remove it first: poly ext remove a-b',
    'To replace it, remove it first: extensions_remove with name "a-b"',
  ],
  [
    'Start it with poly session start, or use a pty pane: --backend pty.',
    'Start it with session_start, or use a pty pane: pty_spawn.',
  ],
])('names the tool instead of the command: %s', (hint, told) => {
  const tools = has('pane_list', 'pty_list', 'pty_spawn', 'pane_new', 'session_start', 'extensions_remove');
  expect(inAgentWords(hint, tools)).toBe(told);
});

it('names another tool where the best is not there', () => {
  expect(inAgentWords('poly ls shows every pane.', has('pane_list'))).toBe('pane_list shows every pane.');
  expect(inAgentWords('Use a pty pane: --backend pty.', has('pane_new'))).toBe(
    'Use a pty pane: pane_new with backend "pty".',
  );
});

it('says whose a command is where no tool does the same', () => {
  for (const hint of ['See poly doctor.', 'Start it with poly session start.', 'Use --backend pty.'])
    expect(inAgentWords(hint, has())).toBe(`${hint} (That is a command for your user.)`);
});

it('leaves alone what speaks of nothing like it', () => {
  for (const hint of [
    'Your user decides that, with poly mcp --safety destructive.',
    'Wait until it does.',
    'Its process may be stopped: kill -CONT lets it go on.',
  ])
    expect(inAgentWords(hint, has())).toBe(hint);
});
