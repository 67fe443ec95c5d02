import type { NamedAgent } from '@polyphony/protocol';
import type { FormEvent, JSX } from 'react';
import { harmless } from '../page/harmless.ts';
import type { HubState } from '../page/hub-state.ts';
import { useOneAtATime } from '../page/one-at-a-time.ts';
import { useProjects } from '../page/use-projects.ts';
import { memberText } from './named-member.tsx';

interface AgentPlacesProps {
  readonly hub: HubState;
  readonly agent: NamedAgent;
  readonly onSession: (session: string) => void;
}

/** The projects an agent is a member of, with its session in each; and how it gets into others. */
export function AgentPlaces({ hub, agent, onSession }: AgentPlacesProps): JSX.Element {
  const { busy, run } = useOneAtATime();
  const projects = useProjects(hub);
  const { name, members } = agent;
  const others = projects.filter((one) => !members.some(({ project }) => project === one));
  const invite = (event: FormEvent<HTMLFormElement>): void => {
    event.preventDefault();
    const project = String(new FormData(event.currentTarget).get('project') ?? '');
    if (project === '') return;
    void run(() => hub.attempt(hub.client.call('floor:agent-invite', { name, project })));
  };
  return (
    <section className="registry" aria-label="Projects">
      <h3>Projects</h3>
      {members.length === 0 && <p className="dim">It is in none yet.</p>}
      <ul>
        {members.map((member) => (
          <li key={member.project_key}>
            <button type="button" className="link" onClick={() => onSession(member.session_id)}>
              {harmless(`${member.project}/${member.session}`)}
            </button>
            <span className="dim">
              {harmless(memberText(member, Date.now()))}
              {member.how === 'tag' && ', by a tag'}
            </span>
            {member.how !== 'tag' && (
              <button
                type="button"
                disabled={busy}
                aria-label={`Dismiss from ${harmless(member.project)}`}
                onClick={() =>
                  void run(() =>
                    hub.attempt(hub.client.call('floor:agent-dismiss', { name, project: member.project })),
                  )
                }
              >
                Dismiss
              </button>
            )}
          </li>
        ))}
      </ul>
      {others.length > 0 && (
        <form className="row" onSubmit={invite}>
          <select name="project" aria-label="Project to invite it to">
            {others.map((one) => (
              <option key={one} value={one}>
                {harmless(one)}
              </option>
            ))}
          </select>
          <button type="submit" disabled={busy}>
            Invite
          </button>
        </form>
      )}
    </section>
  );
}
