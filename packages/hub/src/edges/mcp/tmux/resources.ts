import { PolyError } from '@polyphony/protocol';
import type { ToolContext } from '../tool.ts';
import { listPanes, listSessions, listWindows } from './answers.ts';
import { capture } from './capture.ts';
import type { TmuxServers } from './servers.ts';
import { parseTarget, resolveTarget } from './target.ts';
import type { Use } from './use.ts';
import { withUse } from './verb.ts';

/** One kind of thing that can be read by its address. */
interface Kind {
  readonly uriTemplate: string;
  readonly name: string;
  readonly description: string;
  readonly mimeType: 'application/json' | 'text/plain';
  read(use: Use, ...parts: readonly string[]): Promise<string>;
}

const json = { mimeType: 'application/json' } as const;

const kinds: readonly Kind[] = [
  {
    ...{
      uriTemplate: 'tmux://sessions',
      name: 'sessions',
      description: 'The sessions of the server',
      ...json,
    },
    read: async ({ run, tmux, look }) =>
      written(listSessions(await run(tmux.listSessions()), await look()).structured),
  },
  {
    ...{
      uriTemplate: 'tmux://sessions/{name}',
      name: 'session',
      description: 'A session and its windows',
      ...json,
    },
    async read(use, name = '') {
      const { run, tmux, look } = use;
      const seen = await look();
      const { sessionId } = resolveTarget(seen.panes, name);
      const rows = (await run(tmux.listSessions())).filter((row) => row.sessionId === sessionId);
      const [session] = (listSessions(rows, seen).structured?.sessions ?? []) as readonly object[];
      return written({ ...session, windows: await windowsOf(use, name) });
    },
  },
  {
    ...{ uriTemplate: 'tmux://sessions/{name}/windows', name: 'windows', ...json },
    description: 'The windows of a session',
    read: async (use, name = '') => written({ windows: await windowsOf(use, name) }),
  },
  {
    ...{ uriTemplate: 'tmux://sessions/{name}/windows/{index}', name: 'window', ...json },
    description: 'A window and its panes',
    async read(use, name = '', index = '') {
      const seen = await use.look();
      const { windowId, sessionId } = resolveTarget(seen.panes, `${name}:${index}`);
      const window = (await windowsOf(use, name)).find((row) => row.window_id === windowId);
      const rows = seen.panes.filter((row) => row.windowId === windowId && row.sessionId === sessionId);
      return written({ ...window, ...listPanes(rows, seen).structured });
    },
  },
  {
    ...{ uriTemplate: 'tmux://panes/{id}', name: 'pane', description: 'A pane', ...json },
    async read({ look }, id = '') {
      const seen = await look();
      const row = resolveTarget(seen.panes, paneId(id));
      const [pane] = (listPanes([row], seen).structured?.panes ?? []) as readonly object[];
      return written(pane);
    },
  },
  {
    ...{ uriTemplate: 'tmux://panes/{id}/content', name: 'content', mimeType: 'text/plain' },
    description: 'What stands on the screen of a pane',
    async read(use, id = '') {
      const row = resolveTarget((await use.look()).panes, paneId(id));
      return (await capture(use, row.paneId)).join('\n');
    },
  },
  {
    ...{ uriTemplate: 'tmux://events', name: 'events', ...json },
    description: 'What has happened on the server since it was first listened to',
    async read({ seat }) {
      const ring = await seat.listening.events();
      return written({ events: ring.since(0).map(({ seq, event }) => ({ seq, ...event })), next: ring.next });
    },
  },
];

const written = (value: unknown): string => JSON.stringify(value, null, 1);

async function windowsOf({ run, tmux, look }: Use, name: string): Promise<readonly { window_id: string }[]> {
  const rows = await run(tmux.listWindows({ target: parseTarget(name) }));
  return listWindows(rows, await look()).structured?.windows as readonly { window_id: string }[];
}

/** `%1` stands in an address as `%251`, and is understood as it is and as `1` too. */
function paneId(given: string): string {
  const id = /^\d+$/.test(given) ? `%${given}` : given;
  if (/^%\d+$/.test(id)) return id;
  throw new PolyError('not_found', `"${given.slice(0, 40)}" is no id of a pane.`, { hint: 'Give %1, or 1.' });
}

export interface Listed {
  readonly uri: string;
  readonly name: string;
  readonly description: string;
  readonly mimeType: string;
}

/** The server as things to read, each under an address of its own. */
export class TmuxResources {
  readonly #servers: TmuxServers;

  constructor(servers: TmuxServers) {
    this.#servers = servers;
  }

  get templates(): readonly Omit<Kind, 'read'>[] {
    return kinds.filter(isTemplate).map(({ read: _, ...kind }) => kind);
  }

  /** What there is now; without a server only what could be there. */
  async list(context: ToolContext): Promise<readonly Listed[]> {
    const fixed = kinds
      .filter((kind) => !isTemplate(kind))
      .map(({ uriTemplate, name, description, mimeType }) => ({
        uri: uriTemplate,
        name,
        description,
        mimeType,
      }));
    const live = await withUse(this.#servers, context, async ({ look }) => {
      const { panes } = await look();
      const names = [...new Set(panes.map((row) => row.sessionName))];
      const unique = [...new Map(panes.map((row) => [row.paneId, row])).values()];
      return [
        ...names.map((name) => ({
          uri: `tmux://sessions/${encodeURIComponent(name)}`,
          ...{ name, description: 'A session and its windows', mimeType: 'application/json' },
        })),
        ...unique.map((row) => ({
          uri: `tmux://panes/${encodeURIComponent(row.paneId)}/content`,
          name: `${row.sessionName}:${row.windowIndex}.${row.paneIndex}`,
          ...{ description: `What stands in ${row.paneId}`, mimeType: 'text/plain' },
        })),
      ];
    }).catch((error: unknown) => {
      if (error instanceof PolyError && error.code === 'unavailable') return [];
      throw error;
    });
    return [...fixed, ...live];
  }

  async read(
    uri: string,
    context: ToolContext,
  ): Promise<{ readonly mimeType: string; readonly text: string }> {
    for (const kind of kinds) {
      const parts = partsOf(kind.uriTemplate, uri);
      if (parts)
        return withUse(this.#servers, context, async (use) => ({
          mimeType: kind.mimeType,
          text: await kind.read(use, ...parts),
        }));
    }
    throw new PolyError('not_found', `there is no resource "${uri.slice(0, 100)}".`, {
      hint: `There are ${kinds.map(({ uriTemplate }) => uriTemplate).join(', ')}.`,
    });
  }
}

const isTemplate = ({ uriTemplate }: Kind): boolean => uriTemplate.includes('{');

function partsOf(template: string, uri: string): readonly string[] | undefined {
  const pattern = new RegExp(`^${template.replace(/\{\w+\}/g, '([^/]+)')}$`);
  return pattern.exec(uri)?.slice(1).map(decoded);
}

/** A part that is no encoding, as %1 is none, is meant as it stands. */
function decoded(part: string): string {
  try {
    const text = decodeURIComponent(part);
    return /^%\d+$/.test(part) && !/^%\d+$/.test(text) ? part : text;
  } catch {
    return part;
  }
}
