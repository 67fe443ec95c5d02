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
  },
  typing: { bracketedPaste: true, pauseMs: 50 },
  screens: [
    {
      version: '1.18.33',
      composer:
        /^(?<above>.*\n)?(?<!^ *┃[^\n┃]*\n)(?<pad> *)┃\n(?<draft>(?:\k<pad>┃[^\n]*\n)*?)\k<pad>┃\n\k<pad>┃ {2}(?:(?<shell>Shell)|\S[^\n]*)\n\k<pad>╹▀+\n(?<footer>.*)$/ms,
      margin: /^ *┃ {0,2}/,
      placeholder: /^Ask anything… ".*"$/,
      queued: /\n *┃ {3}QUEUED\n/,
      signs: [
        {
          status: 'blocked',
          blockedOn: 'permission',
          in: 'screen',
          pattern: /△ (?:Permission required|Always allow|Reject permission).*enter confirm[^\n]*\n *┃$/s,
        },
        { status: 'blocked', blockedOn: 'question', in: 'screen', pattern: /enter \w+ {2}esc dismiss\n *┃$/ },
        // Its palette and pickers lie over the composer, with "esc" at the end of their first line.
        { status: 'blocked', blockedOn: 'menu', in: 'screen', pattern: /^[ ┃]* [^\s┃][^\n┃]* {3,}esc$/m },
        { status: 'running', in: 'footer', pattern: /\S[^\n]*esc (?:again to )?interrupt/ },
        { status: 'idle', in: 'footer', pattern: /ctrl\+p commands|esc exit shell mode/ },
      ],
    },
  ],
};
