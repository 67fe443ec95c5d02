import type { Vendor } from './vendor.ts';

/** Codex CLI. While it streams text only the title tells that it runs. */
export const codex: Vendor = {
  name: 'codex',
  programs: ['codex'],
  packages: ['@openai/codex'],
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
  },
  typing: { bracketedPaste: true, pauseMs: 50 },
  screens: [
    {
      version: '0.166.0',
      composer:
        /^(?<above>.*\n)?(?<draft>(?:›|(?<shell>!))(?: [^\n]*)?(?:\n(?: {2}[^\n]*)?)*?)\n\n(?<footer> {2}\S[^\n]* · [^\n]+(?:\n[^\n]*)?)$/s,
      margin: /^(?:[›!] ?| {2})/,
      placeholder: /^Ask Codex to do anything$/,
      queued: /\n• (?:Queued follow-up inputs|Messages to be submitted after next tool call)/,
      signs: [
        {
          status: 'blocked',
          blockedOn: 'permission',
          in: 'screen',
          pattern: /Press enter to confirm or esc to cancel$/,
        },
        {
          status: 'blocked',
          blockedOn: 'permission',
          in: 'screen',
          pattern: /Allow the [^\n]+ MCP server to run tool.*enter to submit \| esc to cancel$/s,
        },
        { status: 'blocked', blockedOn: 'question', in: 'screen', pattern: /enter to submit \| esc [^\n]*$/ },
        {
          status: 'blocked',
          blockedOn: 'trust',
          in: 'screen',
          pattern: /Trust this folder\?.*enter continue · esc quit$/s,
        },
        {
          status: 'blocked',
          blockedOn: 'setup',
          in: 'screen',
          pattern: /(?:enter (?:confirm|continue) · esc skip|enter\/esc confirm · \^c quit)$/,
        },
        {
          status: 'blocked',
          blockedOn: 'menu',
          in: 'screen',
          pattern: /\n {2}(?:enter \w+ · esc \w+|[^\n]*esc dismiss & close[^\n]*)$/,
        },
        { status: 'blocked', in: 'title', pattern: /^\[ [!.] \] Action Required.*/ },
        { status: 'running', in: 'title', pattern: /^[⠀-⣿] .*/ },
        { status: 'running', in: 'above', pattern: /^[•◦] Working \([^\n]*esc to interrupt\)/m },
        { status: 'running', in: 'above', pattern: /^• Messages to be submitted after next tool call/m },
        { status: 'running', in: 'footer', pattern: /tab to queue message/ },
        { status: 'error', in: 'above', pattern: /^• Reconnecting to server…[^\n]*/m },
        { status: 'error', in: 'above', pattern: /^■ (?!Conversation interrupted)[^\n]*(?!.*\n[›•])/ms },
        {
          status: 'starting',
          in: 'screen',
          pattern: /› Ask Codex to do anything\n\n\n {2}\? for shortcuts$/,
        },
        // At rest the title is the project: the working directory, or one above it.
        {
          status: 'idle',
          in: 'title and footer',
          pattern: /^(?<title>[^\n]+)\n[^\n]* · [^\n]*[/~]\k<title>(?:\/|\s|$)/,
        },
      ],
    },
  ],
};
