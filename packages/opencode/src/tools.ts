import { randomBytes } from 'node:crypto';
import {
  type Client,
  commandLine,
  environmentToPass,
  killedAnswer,
  listAnswer,
  type PaneAccess,
  type PaneToolName,
  paneOfSpawn,
  paneTools,
  readGiven,
  spawnedAnswer,
  type Tool,
  usePanes,
} from '@polyphony/protocol';
import type { Env } from './find-hub.ts';
import { failureText, type Hub } from './hub.ts';
import type { ToolContext, ToolDefinition } from './opencode.ts';
import { permitSpawn, realFolder } from './permit-spawn.ts';
import { notes, ownerNotes, type Project, projectPane, projectPanes } from './project-panes.ts';

export interface ToolsOptions {
  readonly hub: Hub;
  /** The project whose terminals these are. */
  readonly directory: string;
  readonly env: Env;
  /** The newest event that has been followed; resolves once the log is followed. */
  readonly following: () => Promise<number>;
}

interface Call<Params> {
  readonly params: Params;
  /** As the model gave them; OpenCode shows this very object. */
  readonly args: Record<string, unknown>;
  readonly context: ToolContext;
  readonly client: Client;
  readonly project: Project;
  readonly options: ToolsOptions;
  readonly access: PaneAccess;
}

type ParamsOf<Name extends PaneToolName> =
  (typeof paneTools)[Name] extends Tool<infer Params> ? Params : never;

const mostTitle = 200;

const run: { readonly [Name in PaneToolName]: (call: Call<ParamsOf<Name>>) => Promise<string> } = {
  async pty_spawn({ params, args, context, client, project, options }) {
    const { command, args: words = [], workdir, env = {}, notifyOnExit = false } = params;
    const argv = [command, ...words];
    const cwd = realFolder(context.directory, workdir);
    await permitSpawn({ argv, env, cwd }, args, context);
    await client.get('/health');
    const since = notifyOnExit ? await options.following() : undefined;
    const spawn = paneOfSpawn({ ...params, title: params.title ?? commandLine(argv).slice(0, mostTitle) });
    const paneId = `pty_${randomBytes(4).toString('hex')}`;
    await client.call('pane:new', {
      ...spawn,
      id: paneId,
      cwd,
      env: { ...withoutOurHost(environmentToPass(options.env)), ...env },
      notifyOnExit,
      meta: {
        ...spawn.meta,
        ...ownerNotes(project.hub, paneId, { session: context.sessionID, directory: project.directory }),
        [notes.process]: process.pid,
        ...(since !== undefined && { [notes.since]: since }),
      },
    });
    const hint = notifyOnExit ? 'You will be told here when it ends; there is no need to look.' : undefined;
    return spawnedAnswer(await projectPane(project, paneId), hint);
  },

  pty_write: ({ params, access }) => usePanes.pty_write(params, access),
  pty_read: ({ params, access }) => usePanes.pty_read(params, access),
  pty_screen: ({ params, access }) => usePanes.pty_screen(params, access),
  pty_wait: ({ params, access }) => usePanes.pty_wait(params, access),

  pty_list: async ({ project }) => listAnswer(await projectPanes(project)),

  async pty_kill({ params: { id, cleanup = false }, client, project }) {
    const { status } = await projectPane(project, id);
    // Whoever kills it knows that it has ended.
    if (status === 'running')
      await client.call('pane:set-meta', { paneId: id, key: notes.noticed, value: true });
    await client.call('pane:close', { paneId: id, cleanup: false });
    const ended = await projectPane(project, id);
    if (cleanup) await client.call('pane:close', { paneId: id, cleanup: true });
    return killedAnswer(ended, cleanup);
  },
};

/** The tools as OpenCode takes them. */
export function createTools(options: ToolsOptions): Readonly<Record<string, ToolDefinition>> {
  const { hub, directory } = options;
  const cursors = new Map<string, number>();
  return Object.fromEntries(
    (Object.keys(paneTools) as PaneToolName[]).map((name) => {
      const { description, params: schema } = paneTools[name] as Tool;
      const execute: ToolDefinition['execute'] = async (args, context) => {
        try {
          const what = `${name} was given wrong arguments`;
          const params = readGiven(schema, args, { what, secrets: ['env', 'data'] });
          const client = hub.client(context.abort);
          const project = { hub, client, directory };
          return await run[name]({
            params: params as never,
            args,
            context,
            client,
            project,
            options,
            access: { client, cursors, pane: (id) => projectPane(project, id) },
          });
        } catch (error) {
          throw new Error(failureText(error), { cause: error });
        }
      };
      return [name, { description, args: schema.shape, execute }];
    }),
  );
}

/** OpenCode's own variables, its server's password among them, are not for what it starts. */
function withoutOurHost(env: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !name.startsWith('OPENCODE')));
}
