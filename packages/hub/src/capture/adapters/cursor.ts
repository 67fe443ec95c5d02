import type { Adapter } from './adapter.ts';

const running = { status: 'running' } as const;

/** Cursor's agent, as its documentation has it. */
export const cursor: Adapter = {
  session: 'conversation_id',
  turn: 'generation_id',
  subagent: { id: 'subagent_id', type: 'subagent_type' },
  cwd: 'workspace_roots.0',
  events: {
    sessionStart: { kind: 'session_started', state: { status: 'idle' } },
    beforeSubmitPrompt: { kind: 'prompt', text: 'prompt', state: running },
    preToolUse: { kind: 'tool_started', tool: 'tool_name', input: 'tool_input', state: running },
    postToolUse: { kind: 'tool_ended', tool: 'tool_name', result: 'tool_output', state: running },
    postToolUseFailure: { kind: 'tool_failed', tool: 'tool_name', error: 'error_message', state: running },
    beforeShellExecution: { kind: 'other', input: 'command' },
    afterShellExecution: { kind: 'other', input: 'command', result: 'output' },
    beforeMCPExecution: { kind: 'other', tool: 'tool_name', input: 'tool_input' },
    afterMCPExecution: { kind: 'other', tool: 'tool_name', result: 'result_json' },
    afterFileEdit: { kind: 'other', input: 'file_path' },
    afterAgentResponse: { kind: 'said', text: 'text' },
    subagentStart: { kind: 'subagent_started', reason: 'subagent_type' },
    subagentStop: { kind: 'subagent_ended', reason: 'subagent_type' },
    preCompact: { kind: 'compacting', reason: 'trigger' },
    stop: {
      ...{ kind: 'turn_ended', reason: 'status', state: { status: 'idle' } },
      where: [
        { field: 'status', is: /^error$/, kind: 'turn_failed', state: { status: 'error' } },
        { field: 'status', is: /^aborted$/, kind: 'interrupted', state: { status: 'idle' } },
      ],
    },
    sessionEnd: { kind: 'session_ended', reason: 'reason', state: { status: 'gone' } },
  },
  gaps: ['no hook when it asks for a permission'],
};
