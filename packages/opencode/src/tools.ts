import { randomBytes } from 'node:crypto';
import {
  type Client,
  commandLine,
  decodeEscapes,
  environmentToPass,
  killedAnswer,
  listAnswer,
  matchesAnswer,
  type PaneToolName,
  paneOfSpawn,
  paneTools,
  readAnswer,
  readGiven,
  screenAnswer,
  spawnedAnswer,
  type Tool,
  waitedAnswer,
  writtenAnswer,
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
  /** How far each terminal had printed when the agent last wrote or waited. */
  readonly cursors: Map<string, number>;
}

type ParamsOf<Name extends PaneToolName> =
  (typeof paneTools)[Name] extends Tool<infer Params> ? Params : never;

const defaultLines = 500;
const defaultWait = 60;
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

  async pty_write({ params: { id, data }, client, project, cursors }) {
    await projectPane(project, id);
    const { next } = await client.call('pane:read', { paneId: id, tail: 0 });
    cursors.set(id, next);
    const { bytes } = await client.call('pane:write', { paneId: id, ...encoded(decodeEscapes(data)) });
    return writtenAnswer(id, bytes, data);
  },

  async pty_read({ params, client, project }) {
    const { id: paneId, offset, limit = defaultLines, pattern, ignoreCase } = params;
    const pane = await projectPane(project, paneId);
    if (pattern === undefined) {
      const range = offset === undefined ? { tail: limit } : { fromLine: Math.max(offset, 1), limit };
      return readAnswer(pane, await client.call('pane:read', { paneId, ...range }));
    }
    const before = offset === undefined ? {} : { before: Math.max(offset, 1) };
    const found = await client.call('pane:search', { paneId, pattern, limit, ignoreCase, ...before });
    return matchesAnswer(pane, pattern, found);
  },

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

  async pty_screen({ params: { id }, client, project }) {
    const pane = await projectPane(project, id);
    return screenAnswer(pane, await client.call('pane:screen', { paneId: id }));
  },

  async pty_wait({ params: { id, timeout = defaultWait, ...until }, client, project, cursors }) {
    await projectPane(project, id);
    const waited = await client.call('pane:wait', {
      since: cursors.get(id) ?? 0,
      ...until,
      paneId: id,
      timeoutMs: Math.ceil(timeout * 1000),
    });
    cursors.set(id, waited.next);
    return waitedAnswer(id, waited);
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
            cursors,
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

/** As text where it is text, so that whoever watches can read it. */
function encoded(bytes: Uint8Array): { readonly data: string; readonly encoding?: 'base64' } {
  try {
    return { data: new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes) };
  } catch {
    return { data: Buffer.from(bytes).toString('base64'), encoding: 'base64' }; // It is no text.
  }
}
