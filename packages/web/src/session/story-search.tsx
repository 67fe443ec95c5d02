import { type JSX, type ReactNode, useRef, useState } from 'react';
import type { HubState } from '../page/hub-state.ts';
import { useCommands } from '../page/use-commands.ts';
import { useLive } from '../page/use-live.ts';
import { FoundEntry } from './found-entry.tsx';

interface StorySearchProps {
  readonly hub: HubState;
  readonly session: string;
  readonly you: string | undefined;
  readonly onGo: (entry: string) => void;
  readonly children: ReactNode;
}

/** What holds no word finds nothing, and is no mistake while somebody still types. */
export const hasWord = (query: string): boolean => /[\p{L}\p{N}]/u.test(query);

/** Finds entries of one session by their words. */
export function StorySearch({ hub, session, you, onGo, children }: StorySearchProps): JSX.Element {
  const [query, setQuery] = useState('');
  const field = useRef<HTMLInputElement>(null);
  useCommands({ filter: () => field.current?.focus() });
  const found = useLive(hub, [], [session, query], async () =>
    hasWord(query) ? hub.client.call('floor:search', { query, session, limit: 50 }) : undefined,
  );
  const results = found?.results ?? [];
  return (
    <search className="story-search">
      <div className="row">
        <input
          ref={field}
          type="search"
          aria-label="Search the session"
          placeholder="Search the session  ( / )"
          value={query}
          spellCheck={false}
          autoComplete="off"
          onChange={(event) => setQuery(event.currentTarget.value)}
          onKeyDown={(event) => {
            if (event.key === 'Escape') {
              setQuery('');
              event.currentTarget.blur();
            }
            const [first] = results;
            if (event.key === 'Enter' && first) onGo(first.entry.entry_id);
          }}
        />
        {children}
      </div>
      {hasWord(query) && found && (
        <ul className="results" aria-label="Found">
          {results.map(({ entry, snippet }) => (
            <li key={entry.entry_id}>
              <button type="button" onClick={() => onGo(entry.entry_id)}>
                <FoundEntry entry={entry} snippet={snippet} query={query} you={you} />
              </button>
            </li>
          ))}
          {results.length === 0 && <li className="empty dim">Nothing found.</li>}
          {found.has_more && <li className="empty dim">Only the newest 50 are shown.</li>}
        </ul>
      )}
    </search>
  );
}
