import type { Vendor } from './vendor.ts';

/** Gemini CLI. It reads the file after any `@`, and takes an Enter within about 50 ms of a paste for a line break. */
export const gemini: Vendor = {
  name: 'gemini',
  programs: ['gemini'],
  packages: ['@google/gemini-cli'],
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
  },
  typing: { bracketedPaste: true, pauseMs: 200, mention: /(?<!\\)@/g },
  screens: [
    {
      version: '0.61.0',
      composer:
        /^(?<above>.*\n)?▄{10,}\n(?<draft> (?:[>*]|(?<shell>!)) .*?)\n▀{10,}(?:\n(?<footer> [^\n]*(?:\n [^\n]*)*))?$/s,
      margin: /^ {1,3}(?:[>*!] {1,3})?/,
      placeholder: /^Type your message or @path\/to\/file$/,
      queued: /\n *Queued \(press [^\n]*\n/,
      signs: [
        {
          status: 'blocked',
          blockedOn: 'permission',
          in: 'screen',
          pattern: /│ Allow execution of .*│ {3}\d+\. No[^\n]*\n(?:│[^\n]*\n)*╰─+╯$/s,
        },
        { status: 'blocked', blockedOn: 'menu', in: 'screen', pattern: /│ ● .*╰─+╯$/s },
        { status: 'blocked', in: 'title', pattern: /^✋.*/ },
        { status: 'running', in: 'title', pattern: /^✦.*/ },
        { status: 'running', in: 'above', pattern: /\(esc to cancel[^\n]*\n─+\n[^\n]*\n$/ },
        { status: 'error', in: 'above', pattern: /^✕ [^\n]*(?!.*\n[▄✦])/ms },
        { status: 'idle', in: 'title and footer', pattern: /^◇[^\n]*/ },
        // Without a title: the line over the composer would show a turn or a hook.
        { status: 'idle', in: 'above', pattern: /\n *(?:\? for shortcuts)?\n─+\n[^\n]*\n$/ },
      ],
    },
  ],
};
