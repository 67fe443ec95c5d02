import type { FloorDecisionsParams } from '@polyphony/protocol';
import { type JSX, useState } from 'react';
import { harmless, harmlessLines } from '../page/harmless.ts';
import type { HubState } from '../page/hub-state.ts';
import { ageOf } from '../page/pane-state.ts';
import { ProjectChoice } from '../page/project-choice.tsx';
import { Rows } from '../page/rows.tsx';
import { useLive } from '../page/use-live.ts';
import { useProjects } from '../page/use-projects.ts';
import { Who } from '../page/who.tsx';
import { FloorBar } from './floor-bar.tsx';

interface FloorDecisionsProps {
  readonly hub: HubState;
  readonly now: number;
  readonly you: string | undefined;
  readonly onOpen: (item: string) => void;
}

const pageSize = 50;
const most = 200;

/** What was decided, by whom and where. */
export function FloorDecisions({ hub, now, you, onOpen }: FloorDecisionsProps): JSX.Element {
  const [project, setProject] = useState('');
  const [limit, setLimit] = useState(pageSize);
  const projects = useProjects(hub);
  const params: FloorDecisionsParams = { limit, ...(project && { project }) };
  const known = useLive(hub, ['floor', 'project'], params, () => hub.client.call('floor:decisions', params));
  const decisions = known?.decisions ?? [];
  return (
    <main className="view whole floor" aria-label="Decisions">
      <FloorBar tab="decisions">
        <ProjectChoice projects={projects} chosen={project} onChoose={setProject} />
      </FloorBar>
      <div className="floor-list narrow">
        {decisions.length > 0 && (
          <Rows
            label="Decisions"
            items={decisions}
            idOf={({ annotation_id }) => annotation_id}
            open={undefined}
            onOpen={(id) => {
              const meant = decisions.find(({ annotation_id }) => annotation_id === id);
              if (!meant) return;
              const { session_id, entry_id } = meant;
              onOpen(entry_id === undefined ? session_id : `${session_id}:${entry_id}`);
            }}
          >
            {({ value, by, at, project: of, slug, entry }) => (
              <div className="found-entry">
                <bdi className="decided">{harmlessLines(value ?? '')}</bdi>
                {entry && <bdi className="snippet">{harmless(entry.text)}</bdi>}
                <span className="facts">
                  <Who id={by} you={you} />
                  <bdi>{harmless(of)}</bdi>
                  <bdi className="mono">{harmless(slug)}</bdi>
                  <time dateTime={at}>{ageOf(at, now)} ago</time>
                </span>
              </div>
            )}
          </Rows>
        )}
        {known && decisions.length === 0 && (
          <p className="empty dim">
            Nothing is marked as decided. In a session, d marks what was decided at an entry; it stands here,
            in what the next driver is told, and in the export.
          </p>
        )}
        {known?.has_more && limit < most && (
          <button type="button" className="more" onClick={() => setLimit(most)}>
            Older ones
          </button>
        )}
      </div>
    </main>
  );
}
