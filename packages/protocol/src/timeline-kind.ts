/** What an entry of a timeline tells of. */
export const timelineKinds = [
  'prompt',
  'answer',
  'said',
  'tool',
  /** How a tool ended; a page of the timeline has it beside the tool. */
  'tool_result',
  'asked',
  'approved',
  'rejected',
  'interrupt',
  'failure',
  'compaction',
  'subagent',
  'notice',
  'session_start',
  'session_end',
  'joined',
  'left',
  'handoff',
  'advice',
  'reply',
  /** Something is missing here. */
  'gap',
  /** Whatever else the coding agent told; left out unless it is asked for. */
  'other',
] as const;
export type TimelineKind = (typeof timelineKinds)[number];

/** Kinds that agents may hear of; advice is not one, or agents would go on among themselves. */
export const watchableKinds: readonly TimelineKind[] = timelineKinds.filter(
  (kind) => !['advice', 'tool_result', 'gap', 'other'].includes(kind),
);
