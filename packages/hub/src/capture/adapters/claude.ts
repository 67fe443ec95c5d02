import type { Adapter } from './adapter.ts';

const tool = { tool: 'tool_name', input: 'tool_input', call: 'tool_use_id' };
const running = { status: 'running' } as const;

/** Claude Code, 2.1.325. */
export const claude: Adapter = {
  session: 'session_id',
  turn: 'prompt_id',
  subagent: { id: 'agent_id', type: 'agent_type' },
  cwd: 'cwd',
  notByAPerson: /^<task-notification>/,
  events: {
    SessionStart: {
      kind: 'session_started',
      reason: 'source',
      state: { status: 'idle' },
      // A compaction may happen in the middle of a turn.
      where: [{ field: 'source', is: /^compact$/, state: null }],
    },
    UserPromptSubmit: { kind: 'prompt', text: 'prompt', state: running },
    UserPromptExpansion: { kind: 'other', text: 'prompt', reason: 'command_name' },
    MessageDisplay: { kind: 'said', text: 'delta' },
    PreToolUse: {
      ...{ kind: 'tool_started', ...tool, state: running },
      where: [
        { field: 'tool_name', is: /^AskUserQuestion$/, state: { status: 'blocked', blockedOn: 'question' } },
      ],
    },
    PermissionRequest: {
      ...{ kind: 'asked', ...tool, state: { status: 'blocked', blockedOn: 'permission' } },
      where: [
        { field: 'tool_name', is: /^ExitPlanMode$/, state: { status: 'blocked', blockedOn: 'plan' } },
        { field: 'tool_name', is: /^AskUserQuestion$/, state: { status: 'blocked', blockedOn: 'question' } },
      ],
    },
    PermissionDenied: { kind: 'refused', ...tool, reason: 'reason', state: running },
    PostToolUse: { kind: 'tool_ended', ...tool, result: 'tool_response', state: running },
    PostToolUseFailure: { kind: 'tool_failed', ...tool, error: 'error', state: running },
    PostToolBatch: { kind: 'other' },
    Notification: {
      ...{ kind: 'notice', text: 'message', reason: 'notification_type' },
      // That of a permission comes seconds after the request, perhaps after its answer: it proves nothing by itself.
      where: [{ field: 'notification_type', is: /^idle_prompt$/, state: { status: 'idle' } }],
    },
    Stop: { kind: 'turn_ended', text: 'last_assistant_message', state: { status: 'idle' } },
    StopFailure: {
      ...{ kind: 'turn_failed', error: 'error', text: 'last_assistant_message', state: { status: 'error' } },
      where: [
        {
          field: 'error',
          is: /rate.?limit|usage limit/i,
          state: { status: 'blocked', blockedOn: 'rate limit' },
        },
      ],
    },
    SubagentStart: { kind: 'subagent_started', reason: 'agent_type' },
    SubagentStop: { kind: 'subagent_ended', text: 'last_assistant_message', reason: 'agent_type' },
    PreCompact: { kind: 'compacting', reason: 'trigger' },
    PostCompact: { kind: 'compacted', text: 'compact_summary', reason: 'trigger' },
    SessionEnd: {
      ...{ kind: 'session_ended', reason: 'reason', state: { status: 'gone' } },
      // The program goes on with another session.
      where: [{ field: 'reason', is: /^(?:clear|resume)$/, state: null }],
    },
  },
  kept: { Interrupt: { kind: 'interrupted' } },
  gaps: [
    'no hook at Esc, nor at a refused permission: its session file and its screen tell',
    'a prompt given while it works is told at once, in the middle of the turn before',
  ],
};
