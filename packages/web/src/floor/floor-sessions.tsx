import type { AgentInfo, FloorSession, PaneInfo, Project, SessionActivity } from '@polyphony/protocol';
import { type JSX, useRef, useState } from 'react';
import { harmless } from '../page/harmless.ts';
import type { HubState } from '../page/hub-state.ts';
import { ageOf } from '../page/pane-state.ts';
import { Rows } from '../page/rows.tsx';
import { type Stretch, type StretchName, stretches } from '../page/stretch.ts';
import { useCommands } from '../page/use-commands.ts';
import { useLive } from '../page/use-live.ts';
import { Who } from '../page/who.tsx';
import { sessionState } from '../session/session-state.ts';
import { ActivityBars } from './activity-bars.tsx';
import { FirstSteps } from './first-steps.tsx';
import { FloorBar } from './floor-bar.tsx';

interface FloorSessionsProps {
  readonly hub: HubState;
  readonly panes: readonly PaneInfo[];
  readonly adopted: readonly AgentInfo[];
  readonly now: number;
  readonly you: string | undefined;
  /** The session that was open last. */
  readonly last: string | undefined;
  readonly onOpen: (session: string) => void;
}

const most = 500;
const ranges: readonly (readonly [StretchName, string])[] = [
  ['day', 'Day'],
  ['fortnight', '14 days'],
];

/** Every project with its sessions: who drives, what its agent does, and how much happened when. */
export function FloorSessions(props: FloorSessionsProps): JSX.Element {
  const { hub, panes, adopted, now, you, last, onOpen } = props;
  const [filter, setFilter] = useState('');
  const [range, setRange] = useState<StretchName>('day');
  const [archived, setArchived] = useState(false);
  const field = useRef<HTMLInputElement>(null);
  useCommands({ filter: () => field.current?.focus() });
  const known = useLive(hub, ['floor', 'project'], ['sessions', archived], async () => {
    const [{ sessions, has_more }, { projects }, away] = await Promise.all([
      hub.client.call('floor:sessions', { archived, limit: most }),
      hub.client.call('project:list', {}),
      hub.client.call('project:list', { archived: true }),
    ]);
    return { sessions, has_more, projects: [...projects, ...away.projects] };
  });
  const stretch = stretches[range](now);
  // Bars need not be true to the second: counted anew now and then, and when the hub is back.
  const activity = useLive(hub, [], [range, now], () =>
    hub.client.call('floor:activity', {
      from: new Date(stretch.from).toISOString(),
      until: new Date(stretch.from + stretch.parts * stretch.partMs).toISOString(),
      parts: stretch.parts,
    }),
  );
  const projects = new Map(known?.projects.map((project) => [project.key, project]));
  const shown = filtered(known?.sessions ?? [], projects, filter).filter(
    ({ project_key }) => archived || projects.get(project_key)?.archived_at === undefined,
  );
  // Sessions of one project stand together, and that with the newest activity first.
  const rows = [...Map.groupBy(shown, ({ project_key }) => project_key).values()].flat();
  const empty = [...projects.values()].filter(
    ({ sessions, archived_at }) => sessions === 0 && archived_at === undefined,
  );
  const isNew = known && !archived && known.sessions.length === 0;
  const bySession = new Map(activity?.sessions.map((one) => [one.session_id, one]));
  const highest = Math.max(1, ...(activity?.sessions ?? []).flatMap(({ entries }) => entries));
  return (
    <main className="view whole floor">
      <FloorBar tab={undefined}>
        {!isNew && (
          <>
            <input
              ref={field}
              type="search"
              aria-label="Filter the sessions"
              placeholder="Filter  ( / )"
              value={filter}
              spellCheck={false}
              autoComplete="off"
              onChange={(event) => setFilter(event.currentTarget.value)}
              onKeyDown={(event) => {
                if (event.key === 'Escape') setFilter('');
                if (!leaving.has(event.key)) return;
                event.preventDefault();
                event.stopPropagation();
                document.getElementById('rows')?.focus();
              }}
            />
            <label className="check">
              <input
                type="checkbox"
                checked={archived}
                onChange={(event) => setArchived(event.currentTarget.checked)}
              />
              Archived
            </label>
            <fieldset className="count" aria-label="Activity of">
              {ranges.map(([name, label]) => (
                <button key={name} type="button" aria-pressed={name === range} onClick={() => setRange(name)}>
                  {label}
                </button>
              ))}
            </fieldset>
          </>
        )}
      </FloorBar>
      <div className="floor-list">
        {known && <FirstSteps hub={hub} sessions={known.sessions} panes={panes} isNew={isNew === true} />}
        {rows.length > 0 && <Axis stretch={stretch} />}
        {known && !isNew && (
          <Rows
            label="Sessions"
            items={rows}
            idOf={({ session_id }) => session_id}
            open={last}
            onOpen={onOpen}
            groupOf={({ project_key }) => project_key}
            heading={(key) => <ProjectHeading project={projects.get(key)} name={key} now={now} />}
          >
            {(session) => (
              <SessionLine
                session={session}
                state={sessionState(session, panes, adopted)}
                activity={bySession.get(session.session_id)}
                stretch={stretch}
                highest={highest}
                now={now}
                you={you}
              />
            )}
          </Rows>
        )}
        {known && !isNew && rows.length === 0 && (
          <p className="empty dim">{filter ? 'No session fits.' : 'No session is archived.'}</p>
        )}
        {known?.has_more && <p className="empty dim">Only the {most} with the newest activity are shown.</p>}
        {empty.length > 0 && !filter && !archived && (
          <p className="empty dim">
            Projects without a session: <bdi>{empty.map(({ name }) => harmless(name)).join(', ')}</bdi>
          </p>
        )}
      </div>
    </main>
  );
}

const leaving: ReadonlySet<string> = new Set(['Escape', 'Enter', 'ArrowDown']);

function filtered(
  sessions: readonly FloorSession[],
  projects: ReadonlyMap<string, Project>,
  filter: string,
): readonly FloorSession[] {
  const words = filter.toLowerCase().split(/\s+/).filter(Boolean);
  return sessions.filter((session) => {
    const { slug, label, agent, driver, project, project_key } = session;
    const tags = projects.get(project_key)?.tags ?? [];
    const text = [slug, label, agent, driver, project, ...tags].join(' ').toLowerCase();
    return words.every((word) => text.includes(word));
  });
}

/** Which time stands where, above the bars of all sessions. */
function Axis({ stretch }: { readonly stretch: Stretch }): JSX.Element {
  return (
    <div className="axis" aria-hidden="true">
      <div>
        {stretch.labels.map((label) => (
          <span key={label}>{label}</span>
        ))}
      </div>
    </div>
  );
}

function ProjectHeading({
  project,
  name,
  now,
}: {
  readonly project: Project | undefined;
  readonly name: string;
  readonly now: number;
}): JSX.Element {
  const { sessions = 0, tags = [], last_activity_at, archived_at } = project ?? {};
  return (
    <>
      <strong>
        <bdi>{harmless(project?.name ?? name)}</bdi>
      </strong>
      {tags.map((tag) => (
        <bdi key={tag} className="tag">
          {harmless(tag)}
        </bdi>
      ))}
      <span className="dim">
        {sessions === 1 ? '1 session' : `${sessions} sessions`}
        {last_activity_at !== undefined && `, active ${ageOf(last_activity_at, now)} ago`}
        {archived_at !== undefined && ', archived'}
      </span>
    </>
  );
}

interface SessionLineProps {
  readonly session: FloorSession;
  readonly state: ReturnType<typeof sessionState>;
  readonly activity: SessionActivity | undefined;
  readonly stretch: Stretch;
  readonly highest: number;
  readonly now: number;
  readonly you: string | undefined;
}

function SessionLine(props: SessionLineProps): JSX.Element {
  const { session, state, activity, stretch, highest, now, you } = props;
  const { slug, label, agent, driver, prompts, last_activity_at } = session;
  const { label: word, tone, reason, since } = state;
  return (
    <>
      <span className={`dot ${tone}`} title={word} aria-hidden="true" />
      <span className="title">
        <bdi className="mono slug">{harmless(slug)}</bdi>{' '}
        {label !== undefined && <bdi className="label">{harmless(label)}</bdi>}
      </span>
      <span className="cell agent">
        {agent !== undefined && <Who id={agent} you={you} />}{' '}
        <span className={`state ${tone}`} title={reason}>
          {word}
          {since !== undefined && ` ${ageOf(since, now)}`}
        </span>
      </span>
      <span className="cell driver">
        {driver === undefined ? (
          <span className="dim">nobody drives</span>
        ) : (
          <>
            <Who id={driver} you={you} /> <span className="dim">{driver === you ? 'drive' : 'drives'}</span>
          </>
        )}
      </span>
      <span className="cell number">{prompts === 1 ? '1 prompt' : `${prompts} prompts`}</span>
      <span
        className="cell number age"
        title={last_activity_at && new Date(last_activity_at).toLocaleString()}
      >
        {last_activity_at !== undefined && `${ageOf(last_activity_at, now)} ago`}
      </span>
      <ActivityBars stretch={stretch} activity={activity} most={highest} />
      {reason !== undefined && <bdi className="reason">{reason}</bdi>}
    </>
  );
}
