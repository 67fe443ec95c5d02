import type { NamedAgent, TeamMember } from '@polyphony/protocol';
import { type JSX, useRef, useState } from 'react';
import { AgentDialog } from '../agents/agent-dialog.tsx';
import { NamedMember } from '../agents/named-member.tsx';
import { harmless } from '../page/harmless.ts';
import type { HubState } from '../page/hub-state.ts';
import { ageOf } from '../page/pane-state.ts';
import { Rows } from '../page/rows.tsx';
import { useCommands } from '../page/use-commands.ts';
import { useLive } from '../page/use-live.ts';
import { FloorBar } from './floor-bar.tsx';

interface FloorPeopleProps {
  readonly hub: HubState;
  readonly now: number;
  readonly you: string | undefined;
  readonly onOpen: (item: string) => void;
}

type Group = 'person' | 'named' | 'agent';

const titles: Readonly<Record<Group, string>> = {
  person: 'People',
  named: 'Named agents',
  agent: 'Other agents',
};

/** Somebody in the list; of whom the user has named, all that is known. */
interface Listed extends TeamMember {
  readonly named?: NamedAgent | undefined;
}

const groupOf = ({ kind, named }: Listed): Group => (named ? 'named' : kind);

/** What one can look for. */
function wordsOf({ participant, display_name, projects, named }: Listed): string {
  const more = named ? [named.shown_as, named.description, ...named.skills, ...named.tags] : [];
  return [participant, display_name, ...projects, ...more].join(' ').toLowerCase();
}

/** People and agents in one list: in which projects each is, and which sessions they drive or speak in. */
export function FloorPeople({ hub, now, you, onOpen }: FloorPeopleProps): JSX.Element {
  const [filter, setFilter] = useState('');
  const field = useRef<HTMLInputElement>(null);
  useCommands({ filter: () => field.current?.focus() });
  const known = useLive(hub, ['floor', 'project', 'mail', 'agent', 'person'], 'team', () => everybody(hub));
  const words = filter.toLowerCase().split(/\s+/).filter(Boolean);
  const [asked, ask] = useState<{ readonly agent?: string } | undefined>();
  const team = (known?.team ?? []).filter((one) => words.every((word) => wordsOf(one).includes(word)));
  const isUser = known !== undefined && known.user === you;
  /** A named agent is the user's to change; of others it goes to the session in which they were last. */
  const open = (participant: string): void => {
    const found = team.find((one) => one.participant === participant);
    if (found?.named && isUser) {
      ask({ agent: found.named.name });
      return;
    }
    const [place] = found?.sessions ?? [];
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
        {isUser && (
          <button type="button" onClick={() => ask({})}>
            Add an agent
          </button>
        )}
      </FloorBar>
      <div className="floor-list narrow">
        {known && (
          <Rows
            label="People and agents"
            items={team}
            idOf={({ participant }) => participant}
            open={undefined}
            onOpen={open}
            groupOf={groupOf}
            heading={(group) => <strong>{titles[group as Group]}</strong>}
          >
            {(member) =>
              member.named ? (
                <NamedMember agent={member.named} now={now} />
              ) : (
                <Member member={member} now={now} you={you} />
              )
            }
          </Rows>
        )}
        {known && team.length === 0 && <p className="empty dim">Nobody fits.</p>}
      </div>
      {asked && (
        <AgentDialog
          hub={hub}
          agent={known?.team.find(({ named }) => named?.name === asked.agent)?.named}
          onAdded={(agent) => ask({ agent })}
          onSession={onOpen}
          onClose={() => ask(undefined)}
        />
      )}
    </main>
  );
}

/** Those who take part, those who were invited and have not come yet, and what is known of named agents. */
async function everybody({ client }: HubState): Promise<{
  readonly user: string;
  readonly team: readonly Listed[];
}> {
  const [{ team }, { people, user }, { agents }] = await Promise.all([
    client.call('floor:team', {}),
    client.call('person:list', {}),
    client.call('floor:agents', {}),
  ]);
  const strangers = people.filter(({ participant }) => !team.some((one) => one.participant === participant));
  const invited = strangers.map(
    ({ participant, display_name, came_at }): TeamMember => ({
      ...{ participant, kind: 'person', name: participant.replace('user:', ''), display_name },
      ...{ projects: [], sessions: [], last_seen_at: came_at },
    }),
  );
  const named = new Map(agents.map((agent) => [agent.participant, agent]));
  const listed = [...team, ...invited].map((one): Listed => ({ ...one, named: named.get(one.participant) }));
  const byGroup = Map.groupBy(listed, groupOf);
  return { user, team: (['person', 'named', 'agent'] as const).flatMap((group) => byGroup.get(group) ?? []) };
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
      <span className="facts wraps">
        <span className="mono">{harmless(participant)}</span>
        <bdi>{projects.map(harmless).join(', ')}</bdi>
        {sessions.length > 0 && <bdi className="mono">{sessions.map(harmless).join(', ')}</bdi>}
      </span>
    </>
  );
}
