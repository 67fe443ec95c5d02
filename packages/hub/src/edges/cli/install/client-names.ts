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
export type ClientName = (typeof clientNames)[number];
