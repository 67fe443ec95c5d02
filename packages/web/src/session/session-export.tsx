import { entryMarkdown, type FloorSession, sessionMarkdown, type TimelineEntry } from '@polyphony/protocol';
import type { JSX } from 'react';
import type { HubState } from '../page/hub-state.ts';
import { useOneAtATime } from '../page/one-at-a-time.ts';

const pageSize = 500;

/** Everything that happened in a session, the oldest first. */
async function wholeTimeline({ client }: HubState, session: string): Promise<readonly TimelineEntry[]> {
  const pages: (readonly TimelineEntry[])[] = [];
  let before: string | undefined;
  do {
    const page = await client.call('floor:timeline', {
      ...{ session, limit: pageSize },
      ...(before !== undefined && { before }),
    });
    pages.unshift(page.entries);
    before = page.next_before;
  } while (before !== undefined);
  return pages.flat();
}

const forms = {
  Markdown: {
    type: 'text/markdown',
    ending: 'md',
    write: async (hub: HubState, session: FloorSession): Promise<string> => {
      const { links } = await hub.client.call('floor:links', { session: session.session_id });
      const entries = await wholeTimeline(hub, session.session_id);
      return [sessionMarkdown(session, links), ...entries.map(entryMarkdown)].join('\n');
    },
  },
  JSON: {
    type: 'application/json',
    ending: 'json',
    write: async (hub: HubState, session: FloorSession): Promise<string> => {
      const { links } = await hub.client.call('floor:links', { session: session.session_id });
      const entries = await wholeTimeline(hub, session.session_id);
      return JSON.stringify({ session, links, entries }, undefined, 2);
    },
  },
} as const;

/** Saves the whole session as a file. */
export function SessionExport({
  hub,
  session,
}: {
  readonly hub: HubState;
  readonly session: FloorSession;
}): JSX.Element {
  const { busy, run } = useOneAtATime();
  const save = async (name: keyof typeof forms): Promise<void> => {
    const { type, ending, write } = forms[name];
    const saving = write(hub, session).then((text) => {
      const link = document.createElement('a');
      link.href = URL.createObjectURL(new Blob([text], { type }));
      link.download = `${session.project}-${session.slug}.${ending}`;
      link.click();
      URL.revokeObjectURL(link.href);
    });
    await hub.attempt(saving);
  };
  return (
    <section aria-label="Export">
      <h3>Export</h3>
      <p className="row">
        {(['Markdown', 'JSON'] as const).map((name) => (
          <button key={name} type="button" disabled={busy} onClick={() => void run(() => save(name))}>
            {name}
          </button>
        ))}
      </p>
    </section>
  );
}
