import {
  commandLine,
  type Effect,
  killedAnswer,
  listAnswer,
  type PaneAccess,
  type PaneInfo,
  type PaneToolName,
  PolyError,
  paneOfSpawn,
  paneTools,
  readGiven,
  spawnedAnswer,
  type Tool,
  usePanes,
} from '@polyphony/protocol';
import { schemaToList } from './schema-to-list.ts';
import type { McpTool, ToolContext } from './tool.ts';

type ParamsOf<Name extends PaneToolName> =
  (typeof paneTools)[Name] extends Tool<infer Params> ? Params : never;

interface Use<Name extends PaneToolName> {
  readonly effect: Effect;
  readonly destroys?: boolean;
  /** What parameters mean here, where that is not what they mean in OpenCode. */
  readonly means?: Readonly<Record<string, string>>;
  readonly waits?: boolean;
  run(params: ParamsOf<Name>, access: PaneAccess, context: ToolContext): Promise<string>;
}

const mostTitle = 200;

const uses: { readonly [Name in PaneToolName]: Use<Name> } = {
  pty_spawn: {
    effect: 'write',
    means: {
      notifyOnExit:
        'Have the event of its end tell what it printed last. Here nobody calls you: wait for the end with pty_wait.',
    },
    async run(params, { client, pane }, { place }) {
      const title = params.title ?? commandLine([params.command, ...(params.args ?? [])]).slice(0, mostTitle);
      const { id } = await client.call('pane:new', {
        ...paneOfSpawn({ workdir: place.cwd, ...params, title }),
        env: { ...place.env, ...params.env },
      });
      const hint = params.notifyOnExit
        ? 'Nobody can call you back here: wait for its end with pty_wait.'
        : undefined;
      return spawnedAnswer(await pane(id), hint);
    },
  },
  pty_write: { effect: 'write', run: usePanes.pty_write },
  pty_read: { effect: 'read', run: usePanes.pty_read },
  pty_list: { effect: 'read', run: async (_, { client }) => listAnswer(await client.call('pane:list', {})) },
  pty_kill: {
    effect: 'write',
    destroys: true,
    async run({ id, cleanup = false }, { client, pane }) {
      await pane(id);
      await client.call('pane:close', { paneId: id, cleanup: false });
      const ended = await pane(id);
      if (cleanup) await client.call('pane:close', { paneId: id, cleanup: true });
      return killedAnswer(ended, cleanup);
    },
  },
  pty_screen: { effect: 'read', run: usePanes.pty_screen },
  pty_wait: { effect: 'read', waits: true, run: usePanes.pty_wait },
};

/** The terminals, as opencode-pty calls them. */
export const mcpPaneTools: readonly McpTool[] = (Object.keys(paneTools) as PaneToolName[]).map((name) => {
  const { description, params } = paneTools[name] as Tool;
  const { effect, destroys, waits, means = {}, run } = uses[name] as Use<PaneToolName>;
  return {
    ...{ name, description, effect, toolset: 'panes' },
    ...(destroys && { destroys }),
    ...(waits && { waits }),
    inputSchema: schemaOf(params, means),
    async run(args, context) {
      const given = readGiven(params, args, { what: name });
      const { client, cursors } = context;
      const access = { client, cursors, pane: (id: string) => paneOf(client, id) };
      return { text: await run(given as never, access, context) };
    },
  };
});

function schemaOf(params: Tool['params'], means: Readonly<Record<string, string>>): McpTool['inputSchema'] {
  const schema = schemaToList(params) as { readonly properties?: Record<string, object> };
  const told = Object.entries(means).map(([name, description]) => [
    name,
    { ...schema.properties?.[name], description },
  ]);
  return { ...schema, properties: { ...schema.properties, ...Object.fromEntries(told) } };
}

async function paneOf(client: ToolContext['client'], id: string): Promise<PaneInfo> {
  const pane = (await client.call('pane:list', {})).find((one) => one.id === id);
  if (pane) return pane;
  throw new PolyError('not_found', `there is no terminal "${id}" that you may see.`, {
    hint: 'pty_list shows those there are.',
  });
}
