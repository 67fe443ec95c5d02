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

/** Every command, in the order help shows them. Another file is loaded only by the command that needs it. */
export const commands: readonly Command[] = [
  ...serverCommands,
  ...paneCommands,
  ...agentCommands,
  ...adoptCommands,
  ...namedCommands,
  ...mailCommands,
  ...peopleCommands,
  ...projectCommands,
  ...floorCommands,
  ...timelineCommands,
  ...seatCommands,
  ...recoverCommands,
  ...knowledgeCommands,
  ...taskCommands,
  ...contractCommands,
  ...demoCommands,
  ...fileCommands,
  ...mcpCommands,
  ...hookCommands,
  ...skillCommands,
  ...approvalCommands,
  ...sessionCommands,
  ...actionCommands,
  ...eventCommands,
  ...extensionCommands,
  ...workspaceCommands,
  ...upkeepCommands,
  ...completionCommands,
];
