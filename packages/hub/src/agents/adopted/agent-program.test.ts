import { describe, expect, it } from 'vitest';
import { agentProgram } from './agent-program.ts';

const cases: readonly (readonly [argv: readonly string[], vendor: string, program: string])[] = [
  [['claude'], 'claude', 'claude'],
  [['/home/me/.local/bin/claude', '--model', 'opus'], 'claude', '/home/me/.local/bin/claude'],
  [['/bin/sh', '/home/me/claude'], 'claude', '/home/me/claude'],
  [['node', '/x/node_modules/@anthropic-ai/claude-code/cli.js'], 'claude', 'claude'],
  [['node', '--max-old-space-size=4096', '-r', 'x.js', '/usr/bin/gemini'], 'gemini', '/usr/bin/gemini'],
  [
    ['/usr/bin/node', '/x/@google/gemini-cli/bundle/gemini.js'],
    'gemini',
    '/x/@google/gemini-cli/bundle/gemini.js',
  ],
  [['node', '/x/bin/codex.js', '--no-daemon'], 'codex', '/x/bin/codex.js'],
  [['codex', '--profile', 'review'], 'codex', 'codex'],
  [['opencode', '-s', 'ses_1'], 'opencode', 'opencode'],
  [['/x/cursor-agent/versions/1/node', '/x/cursor-agent/versions/1/index.js'], 'cursor', 'cursor-agent'],
  [['cursor-agent'], 'cursor', 'cursor-agent'],
];

describe('agentProgram', () => {
  it.each(cases)('knows %j', (argv, vendor, program) => {
    expect(agentProgram(argv)).toEqual({ vendor, program, headless: false });
  });

  it.each([
    [['claude', '-p', 'hello']],
    [['claude', 'mcp', 'serve']],
    [['codex', 'app-server', '--listen', 'unix://']],
    [['codex', '-c', 'a=b', 'exec', 'hello']],
    [['opencode', 'serve', '--port', '0']],
    [['gemini', '--prompt=hello']],
  ])('knows that nobody sits before %j', (argv) => {
    expect(agentProgram(argv)).toMatchObject({ headless: true });
  });

  it.each([[['claude', '--', '-p']], [['claude', 'please update the mcp server']]])(
    'takes a prompt for none of that: %j',
    (argv) => {
      expect(agentProgram(argv)).toMatchObject({ headless: false });
    },
  );

  it.each([
    [['vim', 'claude']],
    [['sh', '-c', 'claude']],
    [['bash', '-lc', 'claude']],
    [['node', '-e', 'claude']],
    [['node', 'server.js', 'claude']],
    [['node', '/x/node_modules/claude-like/cli.js']],
    [['tail', '-f', '/home/me/claude']],
    [['claude-code-notes']],
    [[]],
    [['']],
  ])('takes %j for no agent', (argv) => {
    expect(agentProgram(argv)).toBeUndefined();
  });
});
