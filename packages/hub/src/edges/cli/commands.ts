import type { Command } from './command.ts';
import { actionCommands } from './commands/action.ts';
import { agentCommands } from './commands/agent.ts';
import { adoptCommands } from './commands/agent-adopt.ts';
import { approvalCommands } from './commands/approvals.ts';
import { completionCommands } from './commands/completion.ts';
import { contractCommands } from './commands/contract.ts';
import { demoCommands } from './commands/demo.ts';
import { eventCommands } from './commands/events.ts';
import { extensionCommands } from './commands/ext.ts';
import { fileCommands } from './commands/file.ts';
import { floorCommands } from './commands/floor.ts';
import { hookCommands } from './commands/hooks.ts';
import { knowledgeCommands } from './commands/knowledge.ts';
import { mailCommands } from './commands/mail.ts';
import { mcpCommands } from './commands/mcp.ts';
import { namedCommands } from './commands/named.ts';
import { paneCommands } from './commands/pane.ts';
import { peopleCommands } from './commands/people.ts';
import { projectCommands } from './commands/project.ts';
import { recoverCommands } from './commands/recover.ts';
import { seatCommands } from './commands/seat.ts';
import { serverCommands } from './commands/server.ts';
import { sessionCommands } from './commands/session.ts';
import { skillCommands } from './commands/skill.ts';
import { taskCommands } from './commands/task.ts';
import { timelineCommands } from './commands/timeline.ts';
import { upkeepCommands } from './commands/upkeep.ts';
import { workspaceCommands } from './commands/workspace.ts';

/** Every command by what it is about, in the order help shows them. Another file is loaded only by the command that needs it. */
export const groups: readonly (readonly [about: string, commands: readonly Command[]])[] = [
  ['The hub', serverCommands],
  ['Panes', paneCommands],
  ['Agents', [...agentCommands, ...adoptCommands, ...namedCommands]],
  ['Mail and people', [...mailCommands, ...peopleCommands]],
  [
    'The floor: projects, sessions and what happened there',
    [...projectCommands, ...floorCommands, ...timelineCommands, ...seatCommands, ...recoverCommands],
  ],
  [
    'Tasks, contracts, files and knowledge',
    [...taskCommands, ...contractCommands, ...fileCommands, ...knowledgeCommands, ...demoCommands],
  ],
  ['What coding agents are set up with', [...mcpCommands, ...hookCommands, ...skillCommands]],
  [
    'Actions, events and extensions',
    [...approvalCommands, ...actionCommands, ...eventCommands, ...extensionCommands],
  ],
  ['tmux', [...sessionCommands, ...workspaceCommands]],
  ['Upkeep', [...upkeepCommands, ...completionCommands]],
];

export const commands: readonly Command[] = groups.flatMap(([, some]) => some);
