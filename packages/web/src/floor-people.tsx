import type { TeamMember } from '@polyphony/protocol';
import { type JSX, useRef, useState } from 'react';
import { FloorBar } from './floor-bar.tsx';
import { harmless } from './harmless.ts';
import type { HubState } from './hub-state.ts';
import { ageOf } from './pane-state.ts';
import { Rows } from './rows.tsx';
import { useCommands } from './use-commands.ts';
import { useLive } from './use-live.ts';

interface FloorPeopleProps {
  readonly hub: HubState;
  readonly now: number;
  readonly you: string | undefined;
  readonly onOpen: (item: string) => void;
}

const titles: Readonly<Record<TeamMember['kind'], string>> = { person: 'People', agent: 'Agents' };

/** People and agents in one list: in which projects each is, and which sessions they drive or speak in. */
export function FloorPeople({ hub, now, you, onOpen }: FloorPeopleProps): JSX.Element {
  const [filter, setFilter] = useState('');
  const field = useRef<HTMLInputElement>(null);
  useCommands({ filter: () => field.current?.focus() });
  const known = useLive(hub, ['floor', 'project', 'mail', 'agent', 'person'], 'team', () => everybody(hub));
  const words = filter.toLowerCase().split(/\s+/).filter(Boolean);
  const team = (known ?? []).filter(({ participant, display_name, projects }) => {
    const text = [participant, display_name, ...projects].join(' ').toLowerCase();
    return words.every((word) => text.includes(word));
  });
  /** Goes to the session in which somebody was last. */
  const open = (participant: string): void => {
    const [place] = team.find((one) => one.participant === participant)?.sessions ?? [];
    if (place === undefined) return;
    const [project = '', session = ''] = place.split('/');
    const going = hub.client
      .call('floor:session', { project, session })
      .then(({ session_id }) => onOpen(session_id));
    void hub.attempt(going);
  };
  return (
    <main className="view whole floor" aria-label="People and agents">
      <FloorBar tab="people">
        <input
          ref={field}
          type="search"
          aria-label="Filter people and agents"
          placeholder="Filter  ( / )"
          value={filter}
          spellCheck={false}
          autoComplete="off"
          onChange={(event) => setFilter(event.currentTarget.value)}
          onKeyDown={(event) => {
            if (event.key === 'Escape') setFilter('');
            if (!['Enter', 'ArrowDown', 'Escape'].includes(event.key)) return;
            event.preventDefault();
            event.stopPropagation();
            document.getElementById('rows')?.focus();
          }}
        />
      </FloorBar>
      <div className="floor-list narrow">
        {known && (
          <Rows
            label="People and agents"
            items={team}
            idOf={({ participant }) => participant}
            open={undefined}
            onOpen={open}
            groupOf={({ kind }) => kind}
            heading={(kind) => <h2>{titles[kind as TeamMember['kind']]}</h2>}
          >
            {(member) => <Member member={member} now={now} you={you} />}
          </Rows>
        )}
        {known && team.length === 0 && <p className="empty dim">Nobody fits.</p>}
      </div>
    </main>
  );
}

/** Those who take part, and those who were invited and have not come yet. */
async function everybody({ client }: HubState): Promise<readonly TeamMember[]> {
  const [{ team }, { people }] = await Promise.all([
    client.call('floor:team', {}),
    client.call('person:list', {}),
  ]);
  const strangers = people.filter(({ participant }) => !team.some((one) => one.participant === participant));
  const invited = strangers.map(
    ({ participant, display_name, came_at }): TeamMember => ({
      ...{ participant, kind: 'person', name: participant.replace('user:', ''), display_name },
      ...{ projects: [], sessions: [], last_seen_at: came_at },
    }),
  );
  const byKind = Map.groupBy([...team, ...invited], ({ kind }) => kind);
  return [...(byKind.get('person') ?? []), ...(byKind.get('agent') ?? [])];
}

const tones: Readonly<Record<string, string>> = { alive: 'good', gone: 'off', unknown: 'off' };

function Member({
  member,
  now,
  you,
}: {
  readonly member: TeamMember;
  readonly now: number;
  readonly you: string | undefined;
}): JSX.Element {
  const { participant, name, display_name, projects, sessions, liveness, last_seen_at } = member;
  return (
    <>
      <span className={`dot ${tones[liveness ?? ''] ?? 'none'}`} title={liveness} />
      <span className="title">
        <bdi>{harmless(name)}</bdi>{' '}
        {display_name !== undefined && <bdi className="dim">{harmless(display_name)}</bdi>}
        {participant === you && <span className="who you">you</span>}
      </span>
      <span className="age">{last_seen_at !== undefined && `${ageOf(last_seen_at, now)} ago`}</span>
      <span className="facts">
        <span className="mono">{harmless(participant)}</span>
        <bdi>{projects.map(harmless).join(', ')}</bdi>
        {sessions.length > 0 && <bdi className="mono">{sessions.map(harmless).join(', ')}</bdi>}
      </span>
    </>
  );
}
