import type { Vendor } from './vendor.ts';

/** Claude Code. An Enter at its permission prompt approves: nothing may be typed while it is blocked. */
export const claude: Vendor = {
  name: 'claude',
  programs: ['claude'],
  packages: ['@anthropic-ai/claude-code'],
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
  },
  typing: { bracketedPaste: true, pauseMs: 50, mention: /(?<!\S)@/g },
  screens: [
    {
      version: '2.1.325',
      composer:
        /^(?<above>.*\n)?─{2}[^\n]*─{2}\n(?<draft>(?:❯|(?<shell>!)).*?)\n─{2}[^\n]*─{2}(?:\n(?<footer>(?:(?!─)[^\n]*\n)*(?!─)[^\n]*))?$/s,
      margin: /^(?:❯\s?|!\s?| {2})/,
      placeholder: /^(?:Press up to edit queued messages|Try ".*")$/,
      queued: /\n {2}ctrl\+x ctrl\+s to send now\n/,
      signs: [
        {
          status: 'blocked',
          blockedOn: 'permission',
          in: 'screen',
          pattern: /Esc to cancel · Tab to amend$/,
        },
        {
          status: 'blocked',
          blockedOn: 'question',
          in: 'screen',
          pattern: /Enter to select · [^\n]*Esc to cancel$/,
        },
        {
          status: 'blocked',
          blockedOn: 'trust',
          in: 'screen',
          pattern: /Yes, I trust this folder.*Enter to confirm · Esc to cancel$/s,
        },
        { status: 'blocked', blockedOn: 'setup', in: 'screen', pattern: /Enter to confirm · Esc to cancel$/ },
        { status: 'blocked', blockedOn: 'menu', in: 'screen', pattern: /\n▔{20,}\n.*Esc to [a-z ]+$/s },
        { status: 'running', in: 'footer', pattern: /esc to interrupt/ },
        { status: 'running', in: 'title', pattern: /^[◐◑] .*/ },
        // The spinner stays while a draft hides "esc to interrupt".
        {
          status: 'running',
          in: 'above',
          pattern: /^[·✢✳✶✻✽*] (?:[^\n]+…(?: \([^\n]*\))?|API error · Retrying [^\n]*)$(?!.*\n❯)/ms,
        },
        { status: 'error', in: 'above', pattern: /^● API Error[^\n]*(?!.*\n[❯●])/ms },
        { status: 'idle', in: 'footer', pattern: /^.*/ },
      ],
    },
  ],
};
