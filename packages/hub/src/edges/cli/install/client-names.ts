/** The programs that can be told about poly, for those who need no more than their names. */
export const clientNames = [
  'claude',
  'codex',
  'cursor',
  'gemini',
  'grok',
  'antigravity',
  'opencode',
  'vscode',
] as const;
/** Those of them whose hooks can start a program. */
export const hookClientNames: readonly ClientName[] = ['claude', 'codex', 'cursor', 'gemini'];
export type ClientName = (typeof clientNames)[number];
