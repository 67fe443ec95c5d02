import type { Vendor } from './vendor.ts';

/** Codex CLI. While it streams text only the title tells that it runs. */
export const codex: Vendor = {
  name: 'codex',
  programs: ['codex'],
  packages: ['@openai/codex'],
  homes: ['HOME', 'CODEX_HOME'],
  // It keeps those open that it was in before, and has one for each of its subagents.
  openFile: {
    name: /\/sessions\/.*\/rollout-[^/]*-([0-9a-f-]{36})\.jsonl$/,
    unless: /"thread_source":"(?!user")/,
  },
  launch: {
    // In its shared daemon, hooks, tools and MCP servers would not have the pane's environment.
    always: { argv: ['--no-daemon'], unless: ['--no-daemon', '--remote'] },
    model: {
      own: ['--model', '-m'],
      pattern: /^[a-z0-9][\w.:/-]*$/i,
      looks: 'a name such as gpt-5.5',
      argv: (model) => ['--model', model],
    },
    permissions: {
      own: [
        '--sandbox',
        '-s',
        '--ask-for-approval',
        '-a',
        '--approve-for-me',
        '--dangerously-bypass-approvals-and-sandbox',
      ],
      ask: { argv: ['--sandbox', 'read-only', '--ask-for-approval', 'on-request'] },
      auto: { argv: ['--sandbox', 'workspace-write', '--ask-for-approval', 'never'] },
    },
    prompt: (prompt) => ['--', prompt],
    resume: (sessionId) => ['resume', sessionId],
    // 0.166.0 refuses them then: its server has kept what was allowed.
    resumeWithout: { at: '--remote', flags: ['--sandbox', '-s', '--ask-for-approval', '-a'] },
  },
  typing: { bracketedPaste: true, pauseMs: 50 },
};
