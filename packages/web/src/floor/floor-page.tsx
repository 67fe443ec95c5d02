import type { AgentInfo, Approval, PaneInfo } from '@polyphony/protocol';
import { type JSX, useEffect, useState } from 'react';
import type { HubState } from '../page/hub-state.ts';
import type { Scheme } from '../page/terminal-themes.ts';
import { SessionView } from '../session/session-view.tsx';
import { FloorDecisions } from './floor-decisions.tsx';
import { FloorPeople } from './floor-people.tsx';
import { FloorSearch } from './floor-search.tsx';
import { FloorSessions } from './floor-sessions.tsx';

interface FloorPageProps {
  readonly hub: HubState;
  readonly panes: readonly PaneInfo[];
  readonly adopted: readonly AgentInfo[];
  readonly approvals: readonly Approval[];
  /** A session, an entry of one, or another list of the floor. */
  readonly open: string | undefined;
  readonly now: number;
  readonly you: string | undefined;
  /** Whether the hub is that of whoever looks. */
  readonly owner: boolean;
  readonly scheme: Scheme;
  readonly screenReader: boolean;
  readonly onOpen: (item: string | undefined) => void;
  readonly onPane: (paneId: string) => void;
  readonly onEnd: ((pane: PaneInfo) => void) | undefined;
  readonly onLink: (address: string) => void;
}

/** The floor: projects and their sessions, one of these, or what is found among all. */
export function FloorPage(props: FloorPageProps): JSX.Element {
  const { hub, panes, adopted, open, now, you, onOpen } = props;
  const [, session, entry] = /^(ses_[0-9a-f]+)(?::(ent_[0-9a-f]+))?$/.exec(open ?? '') ?? [];
  const [last, setLast] = useState(session);
  useEffect(() => {
    if (session !== undefined) setLast(session);
  }, [session]);
  if (session !== undefined)
    return (
      <SessionView
        {...props}
        key={session}
        session={session}
        entry={entry}
        onBack={() => onOpen(undefined)}
        onEntry={(id) => onOpen(`${session}:${id}`)}
      />
    );
  if (open === 'search') return <FloorSearch hub={hub} you={you} onOpen={onOpen} />;
  if (open === 'decisions') return <FloorDecisions hub={hub} now={now} you={you} onOpen={onOpen} />;
  if (open === 'people') return <FloorPeople hub={hub} now={now} you={you} onOpen={onOpen} />;
  return (
    <FloorSessions
      hub={hub}
      panes={panes}
      adopted={adopted}
      now={now}
      you={you}
      last={last}
      onOpen={onOpen}
    />
  );
}
