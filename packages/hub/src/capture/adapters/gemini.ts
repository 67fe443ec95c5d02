import type { Adapter } from './adapter.ts';

const tool = { tool: 'tool_name', input: 'tool_input' };
const running = { status: 'running' } as const;

/** Gemini CLI, 0.61.0. */
export const gemini: Adapter = {
  session: 'session_id',
  cwd: 'cwd',
  events: {
    SessionStart: { kind: 'session_started', reason: 'source', state: { status: 'idle' } },
    BeforeAgent: { kind: 'prompt', text: 'prompt', state: running },
    BeforeModel: { kind: 'other', state: running },
    BeforeToolSelection: { kind: 'other' },
    AfterModel: { kind: 'other' },
    BeforeTool: {
      ...{ kind: 'tool_started', ...tool, state: running },
      where: [{ field: 'tool_name', is: /^ask_user$/, state: { status: 'blocked', blockedOn: 'question' } }],
    },
    AfterTool: {
      ...{
        kind: 'tool_ended',
        ...tool,
        result: 'tool_response',
        error: 'tool_response.error',
        state: running,
      },
      where: [{ field: 'tool_response.error', is: /./, kind: 'tool_failed', state: running }],
    },
    Notification: {
      ...{ kind: 'notice', text: 'message', reason: 'notification_type' },
      ...{ tool: 'details.type', input: 'details' },
      where: [
        {
          // What it asks was told when the tool began, and is not told again.
          ...{ field: 'details.type', is: /^ask_user$/, kind: 'asked', state: null },
        },
        {
          field: 'notification_type',
          is: /^ToolPermission$/,
          kind: 'asked',
          state: { status: 'blocked', blockedOn: 'permission' },
        },
      ],
    },
    // It comes before every call of the model.
    PreCompress: { kind: 'other', reason: 'trigger' },
    AfterAgent: {
      ...{ kind: 'turn_ended', text: 'prompt_response', state: { status: 'idle' } },
      // So it ends a turn that was broken off, and one that has failed: its screen tells which.
      where: [
        {
          ...{ field: 'prompt_response', is: /^\[no response text\]$/, kind: 'other' },
          state: { status: 'idle' },
        },
      ],
    },
    SessionEnd: {
      ...{ kind: 'session_ended', reason: 'reason', state: { status: 'gone' } },
      where: [{ field: 'reason', is: /^clear$/, state: null }],
    },
  },
  gaps: [
    'no hook at a refused permission; at Esc and at a failed turn only that the turn has ended: its title and its screen tell',
    'Esc in the midst of an answer is told as its end, with what it had said',
  ],
};
