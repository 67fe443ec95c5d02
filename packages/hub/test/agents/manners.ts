import type { AgentStatus } from '@polyphony/protocol';
import type { AgentName } from './installed-agents.ts';
import type { Answer } from './model-server.ts';

/** What the model wants to run when it needs somebody's word. */
export const command = 'sleep 1; touch made-by-tool';
/** What needs nobody's. */
const quiet = 'ls';
const options = [
  { label: 'Red', description: 'like fire' },
  { label: 'Blue', description: 'like water' },
];
const question = { question: 'Which colour?', header: 'Colour', options };

/** What is different from one agent to the next. */
export interface Manners {
  /** Its model wants to run a command, and asks something. */
  readonly shell: Answer;
  readonly question?: Answer;
  /** It wants a tool that nobody is asked about. */
  readonly look: Answer;
  readonly interrupt: readonly string[];
  /** What a refused request of its model leaves on its screen; OpenCode shows it and rests. */
  readonly failed: AgentStatus;
  /** How somebody begins anew. */
  readonly clear: string;
  /** The tool that its hooks or its plugin name when it asks for a permission. */
  readonly asksFor: string;
}

export const manners: Readonly<Record<AgentName, Manners>> = {
  claude: {
    look: { tool: 'Bash', input: { command: quiet, description: 'look' } },
    shell: { tool: 'Bash', input: { command, description: 'touch' } },
    question: { tool: 'AskUserQuestion', input: { questions: [{ ...question, multiSelect: false }] } },
    ...{ interrupt: ['Escape'], failed: 'error', clear: '/clear', asksFor: 'Bash' },
  },
  codex: {
    look: { tool: 'exec_command', input: { cmd: quiet } },
    shell: {
      tool: 'exec_command',
      input: { cmd: command, sandbox_permissions: 'require_escalated', justification: 'a test' },
    },
    // Codex 0.166.0 has no tool for questions unless it plans.
    ...{ interrupt: ['Escape'], failed: 'error', clear: '/clear', asksFor: 'Bash' },
  },
  opencode: {
    look: { tool: 'todowrite', input: { todos: [] } },
    shell: { tool: 'bash', input: { command, description: 'touch' } },
    question: { tool: 'question', input: { questions: [question] } },
    ...{ interrupt: ['Escape', 'Escape'], failed: 'done', clear: '/new', asksFor: 'bash' },
  },
  gemini: {
    look: { tool: 'list_directory', input: { dir_path: '.' } },
    shell: { tool: 'run_shell_command', input: { command, description: 'touch' } },
    question: { tool: 'ask_user', input: { questions: [{ ...question, type: 'choice' }] } },
    ...{ interrupt: ['Escape'], failed: 'error', clear: '/clear', asksFor: 'exec' },
  },
};
