import { renameSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { FloorSession, TimelineEntry, TimelineKind } from '@polyphony/protocol';
import { capture } from './capture-ground.ts';
import type { TestHub } from './test-hub.ts';

/** A window with an agent in it: a pane whose credential its hooks show. */
export interface Window {
  readonly id: string;
  readonly token: string;
  readonly session: FloorSession;
  /** Fires a hook of the agent. */
  hook(event: string, more?: object, agent?: string): Promise<void>;
}

/** Opens a pane and joins a session of a project with it. */
export async function openWindow(
  hub: TestHub,
  id: string,
  project: string,
  conversation: string = `of-${id}`,
): Promise<Window> {
  const token = await hub.paneToken(id);
  const { session } = await hub.as(token).call('floor:join', { project });
  return { id, token, session, hook: hooksOf(hub, id, token, conversation) };
}

export function hooksOf(hub: TestHub, id: string, token: string, conversation: string): Window['hook'] {
  return async (event, more = {}, agent = 'claude') => {
    const payload = { session_id: conversation, hook_event_name: event, cwd: '/work', ...more };
    await capture(hub, JSON.stringify(payload), { agent, env: { POLY_PANE: id, POLY_TOKEN: token } });
  };
}

interface Left {
  /** When it was written. */
  readonly at?: number;
  /** Which installation of the hooks it is of. */
  readonly origin?: string;
  readonly folder?: 'new' | 'dead';
}

/** Leaves an event in the journal as a capture hook does: written whole, then there under its name. */
export function leaveHook(
  hub: TestHub,
  { id, token }: Pick<Window, 'id' | 'token'>,
  name: string,
  payload: object,
  { at, origin = 'x', folder = 'new' }: Left = {},
): void {
  const head = [
    ...['poly-capture 1', 'agent claude', `pane ${id}`, `token ${token}`],
    ...['tmux', 'parent 1', `from ${origin}`, 'tool '],
  ];
  // Not among the drafts: the hub clears those away that are as old as some of these are said to be.
  const draft = join(hub.home, name);
  writeFileSync(draft, `${head.join('\n')}\n\n${JSON.stringify(payload)}`);
  if (at !== undefined) utimesSync(draft, at / 1000, at / 1000);
  renameSync(draft, join(hub.dir, 'journal', folder, name));
}

/** Waits until so many entries were written for a session, all told. */
export async function recorded(hub: TestHub, sessionId: string, count: number): Promise<void> {
  let found = 0;
  for await (const { payload } of hub.events('floor:recorded', { since: 0 })) {
    const told = payload as { readonly sessionId: string; readonly entries: readonly unknown[] };
    if (told.sessionId === sessionId) found += told.entries.length;
    if (found >= count) return;
  }
}

/** Everything in a timeline, page by page. */
export async function wholeTimeline(
  hub: TestHub,
  session: string,
  { kinds, limit = 500 }: { kinds?: readonly TimelineKind[]; limit?: number } = {},
): Promise<readonly TimelineEntry[]> {
  const all: TimelineEntry[] = [];
  let before: string | undefined;
  do {
    const page = await hub.client.call('floor:timeline', {
      ...{ session, limit },
      ...(kinds && { kinds }),
      ...(before !== undefined && { before }),
    });
    all.unshift(...page.entries);
    before = page.next_before;
  } while (before !== undefined);
  return all;
}

export const kindsOf = (entries: readonly TimelineEntry[]): readonly string[] =>
  entries.map(({ kind }) => kind);
