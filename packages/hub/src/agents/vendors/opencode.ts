import type { Vendor } from './vendor.ts';

/** What OpenCode asks about when it should ask; by itself it would ask about nothing inside the directory. */
const asking = JSON.stringify({
  bash: { '*': 'ask' },
  edit: { '*': 'ask' },
  webfetch: 'ask',
  websearch: 'ask',
});

/** OpenCode. From its home screen the text leaves the composer seconds before a turn shows. */
export const opencode: Vendor = {
  name: 'opencode',
  programs: ['opencode'],
  packages: ['opencode-ai'],
  homes: ['HOME', 'XDG_DATA_HOME', 'XDG_CONFIG_HOME', 'OPENCODE_CONFIG', 'OPENCODE_CONFIG_DIR'],
  launch: {
    model: {
      own: ['--model', '-m'],
      pattern: /^[\w.@-]+\/[\w.:@/-]+$/,
      looks: 'provider/model, for example anthropic/claude-sonnet-5',
      argv: (model) => ['--model', model],
    },
    permissions: {
      own: ['--auto'],
      ask: { argv: [], env: { OPENCODE_PERMISSION: asking } },
      auto: { argv: ['--auto'] },
    },
    prompt: (prompt) => [`--prompt=${prompt}`],
    resume: (sessionId) => ['--session', sessionId],
  },
  typing: { bracketedPaste: true, pauseMs: 50 },
};
