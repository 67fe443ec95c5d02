import type { Vendor } from './vendor.ts';

/** Gemini CLI. It reads the file after any `@`, and takes an Enter within about 50 ms of a paste for a line break. */
export const gemini: Vendor = {
  name: 'gemini',
  programs: ['gemini'],
  packages: ['@google/gemini-cli'],
  homes: ['HOME', 'GEMINI_CLI_HOME'],
  launch: {
    model: {
      own: ['--model', '-m'],
      pattern: /^[a-z0-9][\w.:/-]*$/i,
      looks: 'a name such as gemini-2.5-flash',
      argv: (model) => ['--model', model],
    },
    permissions: {
      own: ['--approval-mode', '--yolo', '-y'],
      ask: { argv: ['--approval-mode', 'default'] },
      auto: { argv: ['--approval-mode', 'yolo'] },
    },
    prompt: (prompt) => [`--prompt-interactive=${prompt}`],
    resume: (sessionId) => ['--resume', sessionId],
  },
  typing: { bracketedPaste: true, pauseMs: 200, mention: /(?<!\\)@/g },
};
