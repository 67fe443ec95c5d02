/** What a captured event of a coding agent is, whatever the agent calls it. */
export const captureKinds = [
  'session_started',
  'session_ended',
  'prompt',
  'said',
  'tool_started',
  'tool_ended',
  'tool_failed',
  'asked',
  'allowed',
  'refused',
  'notice',
  'turn_ended',
  'turn_failed',
  'interrupted',
  'compacting',
  'compacted',
  'subagent_started',
  'subagent_ended',
  /** There was no room for it on the disk. */
  'gap',
  'other',
] as const;
export type CaptureKind = (typeof captureKinds)[number];
