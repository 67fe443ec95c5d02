import { PolyError } from '@polyphony/protocol';
import type { PaneRow } from '@polyphony/tmux';
import * as z from 'zod';
import type { ToolAnswer } from '../tool.ts';
import { listClients, listPanes, listSessions, listWindows, paneText } from './answers.ts';
import { isCallersServer } from './caller-place.ts';
import { capture } from './capture.ts';
import { grepPane } from './grep-pane.ts';
import { firstLine, ignoreCase, maybe, pattern, target, words, yes } from './params.ts';
import { raisedByFormat } from './raised.ts';
import { parseTarget, resolveTarget } from './target.ts';
import type { Use } from './use.ts';
import { type Verb, verb } from './verb.ts';

/** What only looks. */
export const looking: Readonly<Record<string, Verb>> = {
  get_caller_context: verb({
    description: 'Which tmux server and pane you run in, and which server these tools act on.',
    effect: 'read',
    params: {},
    run: (_, use) => callerContext(use),
  }),
  list_sessions: verb({
    description: 'Lists the tmux sessions.',
    effect: 'read',
    params: {},
    run: async (_, { run, tmux, look }) => listSessions(await run(tmux.listSessions()), await look()),
  }),
  list_windows: verb({
    description: 'Lists the windows of a session, or all.',
    effect: 'read',
    params: { target: target.optional(), all_windows: yes },
    async run({ target: session, all_windows: all = session === undefined }, { run, tmux, look }) {
      const asked = all || session === undefined ? { all: true } : { target: parseTarget(session) };
      return listWindows(await run(tmux.listWindows(asked)), await look());
    },
  }),
  list_panes: verb({
    description: 'Lists the panes of a window, or all.',
    effect: 'read',
    params: { target: target.optional(), all_panes: yes },
    async run({ target: window, all_panes: all = window === undefined }, { look }) {
      const seen = await look();
      if (all || window === undefined) return listPanes(seen.panes, seen);
      const { windowId, sessionId } = resolveTarget(seen.panes, window);
      const own = seen.panes.filter((row) => row.windowId === windowId && row.sessionId === sessionId);
      return listPanes(own, seen);
    },
  }),
  list_clients: verb({
    description: 'Lists who is attached.',
    effect: 'read',
    params: {},
    run: async (_, { run, tmux }) => listClients(await run(tmux.listClients())),
  }),
  has_session: verb({
    description: 'Whether a session of exactly this name exists.',
    effect: 'read',
    answers: { exists: z.boolean() },
    params: { target },
    async run({ target: session }, { run, tmux }) {
      const { exists } = await run(tmux.hasSession({ target: parseTarget(session) }));
      return { text: exists ? 'yes' : 'no', structured: { exists } };
    },
  }),
  show_options: verb({
    description: 'Reads options of a session, with window of a window; global_ if none is named.',
    effect: 'read',
    params: { target: target.optional(), global_: yes, server: yes, window: yes },
    async run({ target: whose, global_, server, window }, { run, tmux }) {
      const { options } = await run(
        tmux.showOptions({
          ...(whose === undefined ? {} : { target: parseTarget(whose) }),
          global: global_ ?? (whose === undefined && !server),
          ...{ server, window },
        }),
      );
      return { text: JSON.stringify(options, null, 1), structured: { options } };
    },
  }),
  show_buffer: verb({
    description: 'Reads a paste buffer, the newest unless named.',
    effect: 'read',
    params: { buffer_name: maybe },
    async run({ buffer_name: bufferName }, { run, tmux }) {
      const { text } = await run(tmux.showBuffer({ bufferName }));
      return { text, structured: { text } };
    },
  }),
  display_message: verb({
    description: 'Expands a format such as #{pane_current_path} for a target.',
    effect: 'read',
    params: { message: words, target: target.optional() },
    raised: ({ message }) => raisedByFormat(message),
    async run({ message, target: about }, { run, tmux, look }) {
      const whose = about === undefined ? {} : { target: resolveTarget((await look()).panes, about).paneId };
      const { text } = await run(tmux.displayMessage({ message, ...whose }));
      return { text, structured: { text } };
    },
  }),
  capture_pane: verb({
    description: 'The text of a pane: its screen, or its history from start on.',
    effect: 'read',
    params: { target, start: firstLine, end: firstLine, join_wrapped: yes, trim_trailing: yes },
    async run({ target: pane, start, end, join_wrapped: joinWrapped, trim_trailing: trimTrailing }, use) {
      const { paneId } = resolveTarget((await use.look()).panes, pane);
      return paneText(paneId, await capture(use, paneId, { start, end, joinWrapped, trimTrailing }));
    },
  }),
  capture_active_pane: verb({
    description: 'The screen of the active pane of a window or session; else of yours, or the last used.',
    effect: 'read',
    params: { target: target.optional() },
    async run({ target: where }, use) {
      const { panes, isCaller } = await use.look();
      const own = panes.find((row) => isCaller(row.paneId))?.sessionId;
      const lastUsed = where === undefined && own === undefined ? await lastUsedSession(use) : undefined;
      const { paneId } = resolveTarget(panes, where ?? own ?? lastUsed ?? '');
      return paneText(paneId, await capture(use, paneId));
    },
  }),
  grep_pane: verb({
    description: 'The lines of a pane that match.',
    effect: 'read',
    params: { target, pattern, ignore_case: ignoreCase, start: firstLine },
    async run({ target: pane, ...query }, use) {
      const { paneId } = resolveTarget((await use.look()).panes, pane);
      return grepPane(use, paneId, query);
    },
  }),
  search_panes: verb({
    description: 'Every pane with lines that match, and those lines.',
    effect: 'read',
    params: {
      pattern,
      ignore_case: ignoreCase,
      start: firstLine,
      max_panes: z.int().min(1).max(1000).default(200),
    },
    async run({ start, max_panes, ...query }, use) {
      const { panes } = await use.look();
      const ids = [...new Set(panes.map((row) => row.paneId))];
      const searched = ids.slice(0, max_panes);
      const found = await Promise.all(
        searched.map(async (id) => ({ id, lines: await capture(use, id, { start }).catch(onlyIfGone) })),
      );
      const matches = await use.seat.search.find(
        found.map(({ lines }) => lines),
        query,
        use.context.signal,
      );
      const hits = found
        .map(({ id }, at) => ({ id, lines: matches[at] ?? [] }))
        .filter(({ lines }) => lines.length > 0);
      const left = ids.length - searched.length;
      const rest = left > 0 ? [`${left} more panes were not searched: raise max_panes.`] : [];
      const head = `${hits.length} of ${searched.length} panes have matching lines.`;
      return { text: [head, ...rest, ...hits.map(({ id, lines }) => paneText(id, lines).text)].join('\n') };
    },
  }),
};

/** A pane that has gone since it was listed has nothing to search; anything else is an error. */
function onlyIfGone(error: unknown): readonly string[] {
  if (error instanceof Error && /can't find pane/.test(error.message)) return [];
  throw error;
}

async function lastUsedSession({ run, tmux }: Use): Promise<string> {
  const sessions = await run(tmux.listSessions());
  const [last] = [...sessions].sort((a, b) => b.activity - a.activity);
  if (last) return last.sessionId;
  throw new PolyError('unavailable', 'this tmux server has no session.', {
    hint: 'create_session makes one.',
  });
}

async function callerContext({ caller, seat, look }: Use): Promise<ToolAnswer> {
  const base = { in_tmux: caller !== undefined, acts_on: seat.socket };
  if (!caller)
    return {
      text: `You do not run in tmux, as far as is known. These tools act on ${seat.socket}.`,
      structured: base,
    };
  const { socket = null, pane = null } = caller;
  const known = { ...base, socket_path: socket, server_pid: caller.serverPid ?? null, pane_id: pane };
  // A server that has ended has no pane to find: what is known is told all the same.
  const alive = socket === seat.socket ? await look().catch(() => undefined) : undefined;
  const here =
    alive && isCallersServer(caller, alive) ? alive.panes.find((row) => row.paneId === pane) : undefined;
  const where = here && placeOf(here);
  const text = here
    ? `You run in ${pane} (${here.sessionName}:${here.windowIndex}.${here.paneIndex}) of ${socket}, which these tools act on.`
    : `You seem to run in ${pane ?? 'some pane'} of ${socket ?? 'some tmux server'}; these tools act on ${seat.socket}.`;
  return { text, structured: { ...known, is_own_server: here !== undefined, ...where } };
}

const placeOf = ({ sessionId, sessionName, windowId, windowIndex, paneIndex }: PaneRow) => ({
  session_id: sessionId,
  session_name: sessionName,
  window_id: windowId,
  window_index: windowIndex,
  pane_index: paneIndex,
});
