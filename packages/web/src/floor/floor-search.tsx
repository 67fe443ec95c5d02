import type { FloorSearchParams } from '@polyphony/protocol';
import { type JSX, useEffect, useRef, useState } from 'react';
import { harmless } from '../page/harmless.ts';
import type { HubState } from '../page/hub-state.ts';
import { ProjectChoice } from '../page/project-choice.tsx';
import { Rows } from '../page/rows.tsx';
import { useCommands } from '../page/use-commands.ts';
import { useLive } from '../page/use-live.ts';
import { useProjects } from '../page/use-projects.ts';
import { FoundEntry } from '../session/found-entry.tsx';
import { hasWord } from '../session/story-search.tsx';
import { FloorBar } from './floor-bar.tsx';

interface FloorSearchProps {
  readonly hub: HubState;
  readonly you: string | undefined;
  readonly onOpen: (item: string) => void;
}

const pageSize = 30;
const most = 100;

/** Finds what happened in any session by its words. */
export function FloorSearch({ hub, you, onOpen }: FloorSearchProps): JSX.Element {
  const [query, setQuery] = useState('');
  const [project, setProject] = useState('');
  const [limit, setLimit] = useState(pageSize);
  const field = useRef<HTMLInputElement>(null);
  useCommands({ filter: () => field.current?.focus() });
  useEffect(() => field.current?.focus(), []);
  const projects = useProjects(hub);
  const params: FloorSearchParams = { query, limit, ...(project && { project }) };
  const found = useLive(hub, ['floor'], params, async () =>
    hasWord(query) ? hub.client.call('floor:search', params) : undefined,
  );
  const results = hasWord(query) ? (found?.results ?? []) : [];
  return (
    <main className="view whole floor" aria-label="Search">
      <FloorBar tab="search">
        <input
          ref={field}
          type="search"
          aria-label="Search all sessions"
          placeholder="Words, in any session  ( / )"
          value={query}
          spellCheck={false}
          autoComplete="off"
          onChange={(event) => setQuery(event.currentTarget.value)}
          onKeyDown={(event) => {
            if (event.key === 'Escape') setQuery('');
            if (!['Enter', 'ArrowDown', 'Escape'].includes(event.key)) return;
            event.preventDefault();
            event.stopPropagation();
            document.getElementById('rows')?.focus();
          }}
        />
        <ProjectChoice projects={projects} chosen={project} onChoose={setProject} />
      </FloorBar>
      <div className="floor-list narrow">
        {results.length > 0 && (
          <Rows
            label="Found"
            items={results}
            idOf={({ entry }) => entry.entry_id}
            open={undefined}
            takesFocus={false}
            onOpen={(id) => {
              const meant = results.find(({ entry }) => entry.entry_id === id);
              if (meant) onOpen(`${meant.entry.session_id}:${id}`);
            }}
          >
            {({ entry, snippet, project: of, slug }) => (
              <div className="found-entry">
                <FoundEntry entry={entry} snippet={snippet} query={query} you={you} />
                <span className="facts">
                  <bdi>{harmless(of)}</bdi> <bdi className="mono">{harmless(slug)}</bdi>
                </span>
              </div>
            )}
          </Rows>
        )}
        {!hasWord(query) && (
          <p className="empty dim">
            Prompts, answers, tools and their results, of every session that is not archived. A word may end
            in *.
          </p>
        )}
        {hasWord(query) && found && results.length === 0 && <p className="empty dim">Nothing found.</p>}
        {found?.has_more && limit < most && (
          <button type="button" className="more" onClick={() => setLimit(most)}>
            Older ones
          </button>
        )}
      </div>
    </main>
  );
}
