import type { Vendor } from './vendor.ts';

/** Claude Code. An Enter at its permission prompt approves: nothing may be typed while it is blocked. */
export const claude: Vendor = {
  name: 'claude',
  programs: ['claude'],
  packages: ['@anthropic-ai/claude-code'],
  homes: ['HOME', 'CLAUDE_CONFIG_DIR'],
  launch: {
    // A suggestion in the composer looks like somebody's draft.
    env: { CLAUDE_CODE_ENABLE_PROMPT_SUGGESTION: 'false' },
    model: {
      own: ['--model'],
      pattern: /^[a-z0-9][\w.:[\]/@-]*$/i,
      looks: 'haiku, sonnet, opus or a full name',
      argv: (model) => ['--model', model],
    },
    permissions: {
      own: ['--permission-mode', '--dangerously-skip-permissions'],
      ask: { argv: ['--permission-mode', 'manual'] },
      auto: { argv: ['--permission-mode', 'auto'] },
    },
    prompt: (prompt) => ['--', prompt],
    resume: (sessionId) => ['--resume', sessionId],
  },
  typing: { bracketedPaste: true, pauseMs: 50, mention: /(?<!\S)@/g },
};
