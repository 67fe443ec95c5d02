import type { Adapter } from './adapter.ts';

const tool = { tool: 'tool_name', input: 'tool_input', call: 'tool_use_id' };
const running = { status: 'running' } as const;

/** Codex, 0.166.0. */
export const codex: Adapter = {
  session: 'session_id',
  turn: 'turn_id',
  subagent: { id: 'agent_id', type: 'agent_type' },
  cwd: 'cwd',
  events: {
    // It comes with the first prompt, or in the middle of a turn: it says nothing of what the agent does.
    SessionStart: { kind: 'session_started', reason: 'source' },
    UserPromptSubmit: { kind: 'prompt', text: 'prompt', state: running },
    PreModelRequest: { kind: 'other', state: running },
    PostModelRequest: { kind: 'other', reason: 'status', error: 'error' },
    PreToolUse: { kind: 'tool_started', ...tool, state: running },
    PermissionRequest: { kind: 'asked', ...tool, state: { status: 'blocked', blockedOn: 'permission' } },
    PostToolUse: { kind: 'tool_ended', ...tool, result: 'tool_response', state: running },
    PreCompact: { kind: 'compacting', reason: 'trigger' },
    PostCompact: { kind: 'compacted', reason: 'trigger' },
    SubagentStart: { kind: 'subagent_started', reason: 'agent_type' },
    SubagentStop: { kind: 'subagent_ended', text: 'last_assistant_message', reason: 'agent_type' },
    Stop: { kind: 'turn_ended', text: 'last_assistant_message', state: { status: 'idle' } },
    Interrupt: { kind: 'interrupted', by: 'user', state: { status: 'idle' } },
    SessionEnd: { kind: 'session_ended', reason: 'reason', state: { status: 'gone' } },
  },
  gaps: [
    'nothing before the first prompt',
    'no hook at a failed turn: its screen tells',
    'with a subagent Stop comes twice for one turn',
    'in the shared daemon hooks have the environment of the daemon, not of the terminal',
  ],
};
