import {
  type Action,
  floorAdvise,
  floorAgents,
  floorClaim,
  floorContext,
  floorHandOn,
  floorHandoff,
  floorJoin,
  floorKnowledge,
  floorKnowledgeRead,
  floorLeave,
  floorRename,
  floorReply,
  floorStatus,
  floorTeam,
} from '@polyphony/protocol';
import { plainJson, schemaWithout } from './mail-tools.ts';
import { schemaToList } from './schema-to-list.ts';
import type { McpTool, ToolContext } from './tool.ts';

type Given = Readonly<Record<string, unknown>>;

interface Use {
  readonly action: Action;
  /** Parameters that an agent has no use for. */
  readonly without?: readonly string[];
  /** What the agent's place says beside what was given. */
  readonly place?: readonly ('conversation' | 'folder')[];
}

/** An agent speaks for itself: in its pane, or in the conversation it works for. */
const others = ['pane', 'vendor', 'conversation', 'team', 'project_dir', 'label', 'max_bytes'];

const uses: readonly Use[] = [
  { action: floorJoin, place: ['conversation', 'folder'] },
  { action: floorLeave, place: ['conversation'] },
  { action: floorStatus, place: ['conversation'] },
  { action: floorReply, without: ['session', 'project'] },
  { action: floorContext },
  { action: floorRename },
  { action: floorTeam },
  { action: floorClaim },
  { action: floorHandoff },
  { action: floorAdvise },
  { action: floorAgents },
  { action: floorHandOn },
  { action: floorKnowledge },
  { action: floorKnowledgeRead, without: ['shared'] },
];

/** The floor, under the names that Polaris gave it. */
export const mcpFloorTools: readonly McpTool[] = uses.map(({ action, without = [], place = [] }) => ({
  name: action.tool ?? action.name.replace(/[:-]/g, '_'),
  toolset: 'floor',
  description: action.summary,
  effect: action.effect,
  get inputSchema() {
    return schemaWithout(schemaToList(action.params), [...others, ...without]);
  },
  async run(given, context) {
    const known = Object.assign({}, ...place.map((what) => placed[what](context)));
    const result = await context.client.call(action.name, { ...known, ...(given as Given) });
    return { text: plainJson(result), isWhole: true };
  },
}));

const placed: Readonly<Record<'conversation' | 'folder', (context: ToolContext) => Given>> = {
  // A pane proves more than any variable, and who has registered has no other.
  conversation: ({ caller, place }) =>
    caller.pane === undefined && caller.agent === undefined && place.conversation
      ? { ...place.conversation }
      : {},
  folder: ({ place }) => (place.cwd === undefined ? {} : { project_dir: place.cwd }),
};
