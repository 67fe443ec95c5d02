import {
  type Client,
  entryMarkdown,
  type FloorSession,
  PolyError,
  sessionMarkdown,
  type TimelineEntry,
  type TimelinePage,
} from '@polyphony/protocol';
import type { Output } from './output.ts';

export const exportFormats: readonly string[] = ['markdown', 'json'];

const mostSessions = 500;

/** Prints every session of a project, archived ones too, the oldest first. */
export async function exportProject(
  hub: Client,
  out: Output,
  project: string,
  format: string | undefined,
): Promise<void> {
  const found = await hub.call('project:show', { project });
  const lists = await Promise.all(
    [false, true].map((archived) => hub.call('floor:sessions', { project, archived, limit: mostSessions })),
  );
  if (lists.some(({ has_more }) => has_more))
    throw new PolyError('too_large', `${found.name} has more than ${mostSessions} sessions.`, {
      hint: 'Export them one by one: poly floor export SESSION',
    });
  const sessions = lists
    .flatMap((list) => list.sessions)
    .toSorted((a, b) => (a.created_at < b.created_at ? -1 : 1));
  if (format !== 'json') {
    for (const session of sessions) await exportSession(hub, out, session, format);
    return;
  }
  out.bytes(`{"project":${JSON.stringify(found)},"sessions":[`);
  for (const [index, session] of sessions.entries()) {
    if (index > 0) out.bytes(',');
    await exportSession(hub, out, session, format);
  }
  out.bytes(']}\n');
}

/** Prints a session page by page, however long it is. */
export async function exportSession(
  hub: Client,
  out: Output,
  session: FloorSession,
  format: string | undefined,
): Promise<void> {
  const choice = { session: session.session_id };
  const { links } = await hub.call('floor:links', { ...choice });
  if (format !== 'json') {
    out.line(sessionMarkdown(session, links));
    for await (const entry of entriesOf(hub, session)) out.line(entryMarkdown(entry));
    return;
  }
  const { annotations } = await hub.call('floor:annotations', { ...choice });
  out.bytes(
    `{"session":${JSON.stringify(session)},"links":${JSON.stringify(links)},"annotations":${JSON.stringify(annotations)},"entries":[`,
  );
  let isFirst = true;
  for await (const entry of entriesOf(hub, session)) {
    out.bytes(`${isFirst ? '' : ','}${JSON.stringify(entry)}`);
    isFirst = false;
  }
  out.bytes(']}');
}

async function* entriesOf(hub: Client, { session_id }: FloorSession): AsyncGenerator<TimelineEntry> {
  for (let after: string | undefined = '0.0'; after !== undefined; ) {
    const page: TimelinePage = await hub.call('floor:timeline', { session: session_id, after, limit: 500 });
    yield* page.entries;
    after = page.entries.length === 0 ? undefined : page.next_after;
  }
}
