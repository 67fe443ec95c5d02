import type { TimelineEntry, TimelineKind } from '@polyphony/protocol';
import { type JSX, type ReactNode, useEffect, useLayoutEffect, useRef, useState } from 'react';
import type { HubState } from '../page/hub-state.ts';
import { dayOf } from '../page/stretch.ts';
import { useCommands } from '../page/use-commands.ts';
import { EntryMarks, type Mark } from './entry-marks.tsx';
import { MarkDialog } from './mark-dialog.tsx';
import { SessionStory, type Story } from './session-story.ts';
import { StorySearch } from './story-search.tsx';
import { TimelineEntryView } from './timeline-entry.tsx';

interface StoryViewProps {
  readonly hub: HubState;
  readonly session: string;
  /** The entry that is meant; what happens now when left out. */
  readonly entry: string | undefined;
  readonly now: number;
  readonly you: string | undefined;
  /** What stands below it. */
  readonly children: ReactNode;
}

/** What was said and decided, without how it was done. */
const withoutTools: readonly TimelineKind[] = [
  ...(['prompt', 'answer', 'said', 'asked', 'approved', 'rejected', 'interrupt', 'failure'] as const),
  ...(['compaction', 'subagent', 'notice', 'session_start', 'session_end', 'joined', 'left'] as const),
  ...(['handoff', 'advice', 'reply', 'gap'] as const),
];

/** The story of a session: from the past up to now, and on. */
export function StoryView({ hub, session, entry, now, you, children }: StoryViewProps): JSX.Element {
  const [story, setStory] = useState<Story>();
  const [tools, setTools] = useState(true);
  const [marking, setMarking] = useState<{ readonly entry: string; readonly kind: 'tag' | 'decision' }>();
  const reader = useRef<SessionStory>(undefined);
  const box = useRef<HTMLDivElement>(null);
  /** Whether the end is in view, and stays there. */
  const follows = useRef(true);
  const [isBehind, setBehind] = useState(false);
  const goTo = useRef(entry);

  useEffect(() => {
    const kinds = tools ? undefined : withoutTools;
    const reading = new SessionStory({ hub, session, kinds, onChange: setStory });
    reader.current = reading;
    if (goTo.current === undefined) reading.newest();
    else reading.around(goTo.current);
    return () => reading.close();
  }, [hub, session, tools]);
  const show = (id: string): void => {
    goTo.current = id;
    follows.current = false;
    reader.current?.around(id);
  };
  useEffect(() => {
    if (entry === undefined) return;
    goTo.current = entry;
    follows.current = false;
    reader.current?.around(entry);
  }, [entry]);
  usePlaceInStory(box, story, follows, goTo);

  const look = (): void => {
    const { current } = box;
    if (!current) return;
    follows.current = current.scrollHeight - current.scrollTop - current.clientHeight < 40;
    setBehind(!follows.current);
  };
  const follow = (): void => {
    follows.current = true;
    goTo.current = undefined;
    if (story?.after !== undefined) reader.current?.newest();
    box.current?.scrollTo({ top: box.current.scrollHeight });
  };
  const mark = (one: TimelineEntry, kind: Mark): void => {
    if (kind !== 'star') setMarking({ entry: one.entry_id, kind });
    else if (one.starred) void unmark(hub, one, 'star');
    else void hub.attempt(hub.client.call('floor:annotate', { session, entry: one.entry_id, kind }));
  };
  const onFocused = (kind: Mark) => (): void => {
    const one = story?.entries.find(({ entry_id }) => entry_id === focusedEntry()?.id);
    if (one) mark(one, kind);
  };
  useCommands({
    next: () => focusEntry((place) => place + 1),
    previous: () => focusEntry((place) => place - 1),
    first: () => focusEntry(() => 0),
    last: () => focusEntry(() => Number.MAX_SAFE_INTEGER),
    open: () => {
      const folded = focusedEntry()?.querySelector('details');
      if (folded) folded.open = !folded.open;
    },
    follow,
    star: onFocused('star'),
    tag: onFocused('tag'),
    decide: onFocused('decision'),
  });

  const entries = story?.entries ?? [];
  return (
    <section className="story" aria-label="Timeline">
      <StorySearch hub={hub} session={session} you={you} onGo={show}>
        <label className="check">
          <input
            type="checkbox"
            checked={tools}
            onChange={(event) => {
              goTo.current = undefined;
              follows.current = true;
              setTools(event.currentTarget.checked);
            }}
          />
          Tools
        </label>
      </StorySearch>
      <div ref={box} className="story-box" onScroll={look}>
        {story?.before !== undefined && (
          <button type="button" className="more" onClick={() => reader.current?.earlier()}>
            Earlier
          </button>
        )}
        {story && entries.length === 0 && (
          <p className="empty dim">
            Nothing has happened here yet. What its agent does stands here as it does it.
          </p>
        )}
        <ol className="entries" aria-label="Entries" aria-live="polite" aria-relevant="additions">
          {entries.map((one, index) => {
            const day = dayOf(one.at);
            const before = entries[index - 1];
            return (
              <li
                key={one.entry_id}
                id={one.entry_id}
                className="entry"
                tabIndex={-1}
                data-kind={one.kind}
                data-starred={one.starred}
                data-meant={one.entry_id === goTo.current}
              >
                {(!before || dayOf(before.at) !== day) && <p className="day">{day}</p>}
                <TimelineEntryView hub={hub} entry={one} now={now} you={you} />
                <EntryMarks
                  entry={one}
                  onMark={(kind) => mark(one, kind)}
                  onUntag={(tag) => void unmark(hub, one, 'tag', tag)}
                  onUndecide={() => void unmark(hub, one, 'decision')}
                />
              </li>
            );
          })}
        </ol>
        {story?.after !== undefined && (
          <button type="button" className="more" onClick={() => reader.current?.later()}>
            Later
          </button>
        )}
      </div>
      {(isBehind || story?.after !== undefined) && (
        <button type="button" className="note" title="Go to what happens now (e)" onClick={follow}>
          ↓ Now
        </button>
      )}
      {children}
      {marking && (
        <MarkDialog
          hub={hub}
          session={session}
          entry={marking.entry}
          kind={marking.kind}
          onClose={() => {
            setMarking(undefined);
            hub.report(undefined);
          }}
        />
      )}
    </section>
  );
}

/** What was before the eyes stays there when something is put before it; the end stays in view while it is followed. */
function usePlaceInStory(
  box: { readonly current: HTMLDivElement | null },
  story: Story | undefined,
  follows: { readonly current: boolean },
  goTo: { readonly current: string | undefined },
): void {
  const before = useRef<{ readonly first: string | undefined; readonly below: number }>(undefined);
  const gone = useRef<string>(undefined);
  useLayoutEffect(() => {
    const { current } = box;
    if (!current || !story) return;
    const first = story.entries[0]?.entry_id;
    const meant = goTo.current;
    if (meant !== undefined && meant !== gone.current) {
      const element = document.getElementById(meant);
      if (element) {
        gone.current = meant;
        element.scrollIntoView({ block: 'center' });
        element.focus({ preventScroll: true });
      }
    } else if (follows.current) current.scrollTop = current.scrollHeight;
    else if (before.current && before.current.first !== first)
      current.scrollTop = current.scrollHeight - before.current.below;
    if (meant === undefined) gone.current = undefined;
    before.current = { first, below: current.scrollHeight - current.scrollTop };
  }, [box, story, follows, goTo]);
}

/** What was put there is known by an id of its own. */
async function unmark(hub: HubState, entry: TimelineEntry, kind: Mark, value?: string): Promise<void> {
  const { client } = hub;
  const taking = async (): Promise<void> => {
    const { annotations } = await client.call('floor:annotations', { session: entry.session_id });
    const meant = annotations.filter(
      (one) =>
        one.entry_id === entry.entry_id && one.kind === kind && (value === undefined || one.value === value),
    );
    for (const { annotation_id } of meant)
      await client.call('floor:unannotate', { annotation: annotation_id });
  };
  await hub.attempt(taking());
}

const focusedEntry = (): HTMLElement | null => document.activeElement?.closest<HTMLElement>('.entry') ?? null;

function focusEntry(to: (place: number) => number): void {
  const all = [...document.querySelectorAll<HTMLElement>('.entry')];
  const here = focusedEntry();
  const place = here ? all.indexOf(here) : all.length;
  all[Math.max(0, Math.min(all.length - 1, to(place)))]?.focus();
}
