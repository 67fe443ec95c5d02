import type { FloorSession } from '@polyphony/protocol';
import { Fragment, type JSX } from 'react';
import { harmless } from '../page/harmless.ts';
import type { HubState } from '../page/hub-state.ts';
import { useOneAtATime } from '../page/one-at-a-time.ts';
import { ageOf } from '../page/pane-state.ts';
import { useLive } from '../page/use-live.ts';
import { SessionExport } from './session-export.tsx';
import { SessionLinks } from './session-links.tsx';

interface SessionAboutProps {
  readonly hub: HubState;
  readonly session: FloorSession;
  readonly now: number;
  /** Whether the hub is that of whoever looks. */
  readonly owner: boolean;
  readonly onEntry: (entry: string) => void;
  readonly onPane: (paneId: string) => void;
  readonly onLink: (address: string) => void;
}

/** What is known of a session, beside what happened in it. */
export function SessionAbout(props: SessionAboutProps): JSX.Element {
  const { hub, session, now, owner, onEntry, onPane, onLink } = props;
  const { session_id } = session;
  const { busy, run } = useOneAtATime();
  const known = useLive(hub, ['floor'], session_id, () =>
    hub.client.call('floor:links', { session: session_id }),
  );
  const isAway = session.archived_at !== undefined;
  const archive = (): Promise<unknown> =>
    hub.attempt(hub.client.call('floor:archive', { session: session_id, ...(isAway && { undo: true }) }));
  return (
    <div className="panel">
      <dl className="facts-list">
        {factsOf(session, now).map(([term, value]) => (
          <Fragment key={term}>
            <dt className="dim">{term}</dt>
            <dd>
              <bdi>{harmless(value)}</bdi>
            </dd>
          </Fragment>
        ))}
      </dl>
      {session.bindings.map(
        ({ pane }) =>
          pane !== undefined && (
            <p key={pane}>
              <button type="button" onClick={() => onPane(pane)}>
                Open {pane} among the terminals
              </button>
            </p>
          ),
      )}
      {known && <SessionLinks links={known.links} onEntry={onEntry} onLink={onLink} />}
      <SessionExport hub={hub} session={session} />
      {owner && (
        <section aria-label="Archive">
          <h3>{isAway ? 'It is archived' : 'Archive'}</h3>
          <p className="dim">
            Nothing feeds a session that is archived, and search leaves it out; all of it is kept.
          </p>
          <p>
            <button type="button" disabled={busy} onClick={() => void run(archive)}>
              {isAway ? 'Take it out again' : 'Put it away'}
            </button>
          </p>
        </section>
      )}
    </div>
  );
}

function factsOf(session: FloorSession, now: number): readonly (readonly [string, string])[] {
  const { bindings, lease_until } = session;
  const facts: readonly (readonly [string, string | undefined])[] = [
    ['agent', session.agent],
    ['driver', session.driver],
    ['seat until', lease_until && new Date(lease_until).toLocaleString()],
    ['drivers so far', String(session.fence)],
    [
      'fed by',
      bindings
        .map(({ pane, vendor, conversation }) => [vendor, pane, conversation].filter(Boolean).join(', '))
        .join('; '),
    ],
    ['prompts', String(session.prompts)],
    ['entries', String(session.entries)],
    ['forked from', session.forked_from],
    ['goes on with', session.resumed_from],
    ['begun', `${ageOf(session.created_at, now)} ago by ${session.created_by}`],
    ['archived', session.archived_at && `${ageOf(session.archived_at, now)} ago`],
    ['id', session.session_id],
  ];
  return facts.flatMap(([term, value]) =>
    value === undefined || value === '' ? [] : [[term, value] as const],
  );
}
