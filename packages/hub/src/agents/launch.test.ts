import { describe, expect, it } from 'vitest';
import { launch, resume } from './launch.ts';
import { recogniseVendor } from './vendors/vendors.ts';

describe('recogniseVendor', () => {
  it.each([
    [['claude'], 'claude'],
    [['/opt/tools/bin/claude', '--verbose'], 'claude'],
    [['./claude.exe'], 'claude'],
    [['codex', 'resume', '--last'], 'codex'],
    [['/x/gemini.js'], 'gemini'],
    [['npx', '@anthropic-ai/claude-code'], 'claude'],
    [['npx', '--yes', '@openai/codex@0.166.0', '--search'], 'codex'],
    [['/usr/bin/npx', '-y', 'opencode-ai@latest'], 'opencode'],
    [['bunx', '@google/gemini-cli'], 'gemini'],
    [['npx', 'cowsay'], 'generic'],
    [['npx'], 'generic'],
    [['bash', '-c', 'claude'], 'generic'],
    [['claude-notes'], 'generic'],
    [[''], 'generic'],
  ])('takes %j for %s', (argv, vendor) => {
    expect(recogniseVendor(argv).name).toBe(vendor);
  });
});

describe('launch', () => {
  it.each([
    [
      { argv: ['claude'], model: 'haiku', prompt: 'hello' },
      ['claude', '--model', 'haiku', '--permission-mode', 'manual', '--', 'hello'],
    ],
    [{ argv: ['claude'], permissions: 'auto' }, ['claude', '--permission-mode', 'auto']],
    [
      { argv: ['codex'], model: 'gpt-5.5', prompt: '--help' },
      [
        ...['codex', '--no-daemon', '--model', 'gpt-5.5'],
        ...['--sandbox', 'read-only', '--ask-for-approval', 'on-request', '--', '--help'],
      ],
    ],
    [
      { argv: ['codex', '--remote', 'unix://x'], permissions: 'auto' },
      ['codex', '--remote', 'unix://x', '--sandbox', 'workspace-write', '--ask-for-approval', 'never'],
    ],
    [
      { argv: ['opencode'], model: 'stub/stub-1', permissions: 'auto', prompt: '-x' },
      ['opencode', '--model', 'stub/stub-1', '--auto', '--prompt=-x'],
    ],
    [
      { argv: ['npx', '@google/gemini-cli'], model: 'gemini-2.5-flash', prompt: 'a\nb' },
      [
        ...['npx', '@google/gemini-cli', '--model', 'gemini-2.5-flash', '--approval-mode', 'default'],
        '--prompt-interactive=a\nb',
      ],
    ],
    [{ argv: ['gemini'], permissions: 'auto' }, ['gemini', '--approval-mode', 'yolo']],
    [{ argv: ['top'] }, ['top']],
  ] as const)('of %j runs %j', (asked, argv) => {
    expect(launch(asked).argv).toEqual(argv);
  });

  it('has OpenCode ask by its environment, since it has no flag for that', () => {
    const { env } = launch({ argv: ['opencode'] });
    expect(JSON.parse(env.OPENCODE_PERMISSION ?? '')).toMatchObject({
      bash: { '*': 'ask' },
      edit: { '*': 'ask' },
    });
    expect(launch({ argv: ['opencode'], permissions: 'auto' }).env).toEqual({});
  });

  it("leaves the caller's own permission flags alone", () => {
    const argv = ['claude', '--permission-mode=plan'];
    expect(launch({ argv }).argv).toEqual(argv);
  });

  it.each([
    [{ argv: ['claude', '--permission-mode=plan'], permissions: 'auto' }, /said twice: --permission-mode/],
    [{ argv: ['codex', '-m', 'x'], model: 'y' }, /model is said twice: -m/],
    [{ argv: ['opencode'], model: 'haiku' }, /"haiku" is no model of opencode/],
    [{ argv: ['claude'], model: '--dangerously-skip-permissions' }, /is no model of claude/],
    [{ argv: ['gemini'], model: 'two words' }, /is no model of gemini/],
    [{ argv: ['top'], model: 'haiku' }, /top is not an agent whose model can be set/],
    [{ argv: ['top'], permissions: 'ask' }, /top is not an agent whose permissions can be set/],
    [{ argv: ['top'], prompt: 'hello' }, /top is not an agent whose prompt can be set/],
  ] as const)('refuses %j', (asked, message) => {
    expect(() => launch(asked)).toThrow(
      expect.objectContaining({ code: 'invalid_arguments', message: expect.stringMatching(message) }),
    );
  });
});

describe('resume', () => {
  it.each([
    [{ argv: ['claude'], prompt: 'hello' }, ['claude', '--permission-mode', 'manual', '--resume', 'id-1']],
    [
      { argv: ['codex'], prompt: 'hello' },
      [
        ...['codex', '--no-daemon', '--sandbox', 'read-only', '--ask-for-approval', 'on-request'],
        ...['resume', 'id-1'],
      ],
    ],
    [
      { argv: ['codex', '--remote', 'ws://127.0.0.1:1', '-C', '/x'] },
      ['codex', '--remote', 'ws://127.0.0.1:1', '-C', '/x', 'resume', 'id-1'],
    ],
    [
      { argv: ['codex', '--sandbox=read-only', '--remote', 'x'] },
      ['codex', '--remote', 'x', 'resume', 'id-1'],
    ],
    [{ argv: ['opencode'], permissions: 'auto' }, ['opencode', '--auto', '--session', 'id-1']],
    [{ argv: ['gemini'], prompt: 'hello' }, ['gemini', '--approval-mode', 'default', '--resume', 'id-1']],
  ] as const)('of %j runs %j, without the prompt it began with, and again', (asked, argv) => {
    const { argv: first, once } = launch(asked);
    const again = resume(first, once, 'id-1');
    expect(again.argv).toEqual(argv);
    expect(resume(again.argv, again.once, 'id-1')).toEqual(again);
  });

  it.each(['--dangerously-skip-permissions', '-c', '', 'a b', 'a\n', '../x'])(
    'refuses %j for a conversation',
    (sessionId) => {
      expect(() => resume(['claude'], 0, sessionId)).toThrow('is no name of a conversation');
    },
  );

  it.each([-1, 0, 0.5, 7, Number.NaN])(
    'keeps the program when %d of its arguments are said to be of one start',
    (once) => {
      expect(resume(['claude'], once, 'id-1').argv).toEqual(['claude', '--resume', 'id-1']);
    },
  );

  it('refuses a program that has no conversations', () => {
    expect(() => resume(['top'], 0, 'id-1')).toThrow('top is not an agent whose conversation can be set.');
  });
});
