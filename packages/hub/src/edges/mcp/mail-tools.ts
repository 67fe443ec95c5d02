import {
  type Action,
  mailAgents,
  mailBroadcast,
  mailBroadcastToRole,
  mailInbox,
  mailReconnect,
  mailRegister,
  mailSend,
  mailSendById,
  mailStatus,
  mailUnregister,
} from '@polyphony/protocol';
import { schemaToList } from './schema-to-list.ts';
import type { McpTool, ToolContext } from './tool.ts';

type Given = Readonly<Record<string, unknown>>;

interface Use {
  readonly action: Action;
  /** Parameters that an agent has no use for. */
  readonly without?: readonly string[];
  readonly waits?: boolean;
  /** Says who somebody is, instead of being done as somebody. */
  readonly introduces?: boolean;
  /** What is asked for, where that is not what was given. */
  asks?(given: Given, context: ToolContext): Given;
}

/** What an agent should have to read at once, beside a first message that is larger. */
const mostInbox = 30_000;
const inFolder = (given: Given, { place }: ToolContext): Given => ({
  ...(place.cwd !== undefined && { project_dir: place.cwd }),
  ...given,
});

const uses: readonly Use[] = [
  { action: mailRegister, asks: inFolder, introduces: true },
  { action: mailUnregister },
  { action: mailAgents },
  { action: mailSend, without: ['project_dir'], waits: true },
  { action: mailSendById, waits: true },
  { action: mailBroadcast, without: ['project', 'team', 'project_dir'] },
  { action: mailBroadcastToRole, without: ['project', 'team', 'project_dir'] },
  {
    action: mailInbox,
    without: ['peek', 'max_bytes'],
    asks: (given, { choice }) => ({
      max_bytes: mostInbox,
      ...given,
      ...(choice.safety === 'readonly' && { peek: true }),
    }),
  },
  { action: mailStatus },
  { action: mailReconnect, asks: inFolder, introduces: true },
];

/** Mail, under the names that xats gave it. */
export const mcpMailTools: readonly McpTool[] = uses.map(
  ({ action, without = [], waits, introduces, asks }) => ({
    name: action.tool ?? action.name,
    toolset: 'mail',
    description: action.summary,
    effect: action.effect,
    ...(waits && { waits }),
    ...(!introduces && { asAgent: true }),
    // Reading moves a cursor, and can do without.
    ...(action === mailInbox && { looksWhenReadonly: true }),
    get inputSchema() {
      return schemaWithout(schemaToList(action.params), without);
    },
    async run(given, context) {
      const asked = asks ? asks(given as Given, context) : given;
      const result = (await context.client.call(action.name, asked)) as Given;
      const isHeld = introduces && !context.remembers && result.agent_id !== undefined;
      return { text: plainJson(isHeld ? { ...result, hint: forgotten } : result), isWhole: true };
    },
  }),
);

const forgotten =
  'This connection is forgotten between two calls, and you with it: give your secret as secret with each call. If you have none, your user decides: register with take_over.';

/** What cannot be seen, or turns text around, is written as JSON can: nothing is lost, and nothing is hidden. */
const unseen =
  /[\x7f-\x9f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]|\udb40[\udc00-\udfff]/g;

export function plainJson(value: unknown): string {
  return JSON.stringify(value).replace(unseen, (found) =>
    [...Array(found.length).keys()]
      .map((i) => `\\u${found.charCodeAt(i).toString(16).padStart(4, '0')}`)
      .join(''),
  );
}

export function schemaWithout(
  schema: McpTool['inputSchema'],
  names: readonly string[],
): McpTool['inputSchema'] {
  const properties = Object.entries((schema.properties ?? {}) as Given);
  return { ...schema, properties: Object.fromEntries(properties.filter(([name]) => !names.includes(name))) };
}
