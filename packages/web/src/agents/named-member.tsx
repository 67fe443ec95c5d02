import type { AgentMember, NamedAgent } from '@polyphony/protocol';
import type { JSX } from 'react';
import { harmless } from '../page/harmless.ts';
import { Icon } from '../page/personas.tsx';
import { untilOf } from '../page/until.ts';

const tones: Readonly<Record<AgentMember['state'], string>> = {
  ...{ here: 'good', running: 'good', starting: 'busy', waiting: 'wait', away: 'off' },
};

/** The state that says most of all its projects. */
const most: readonly AgentMember['state'][] = ['waiting', 'starting', 'running', 'here', 'away'];

/** How it stands with an agent in a project, in a few words. */
export function memberText(member: AgentMember, now: number): string {
  const { state, reason, next_at, throttled_until } = member;
  return [
    state,
    reason,
    next_at !== undefined && `starts again in ${untilOf(next_at, now) ?? 'a moment'}`,
    throttled_until !== undefined && `over its budget for ${untilOf(throttled_until, now) ?? 'a moment'}`,
  ]
    .filter(Boolean)
    .join(', ');
}

/** A named agent in the list: who it is, what it is good at, and how it stands with it in each project. */
export function NamedMember({
  agent,
  now,
}: {
  readonly agent: NamedAgent;
  readonly now: number;
}): JSX.Element {
  const { participant, display_name, shown_as, icon, description, skills, members, budget } = agent;
  const state = most.find((one) => members.some((member) => member.state === one)) ?? 'away';
  const above = shown_as === display_name ? undefined : shown_as;
  return (
    <>
      <span className={`dot ${tones[state]}`} title={state} />
      <span className="title">
        <Icon icon={icon} /> <bdi>{harmless(display_name)}</bdi>
        {above !== undefined && <bdi className="dim"> shown as {harmless(above)}</bdi>}
      </span>
      <span className="age">{`${budget}/min`}</span>
      <span className="facts wraps">
        <span className="mono">{harmless(participant)}</span>
        <span>{agent.hosting === 'hub' ? 'run by the hub' : 'hosted by itself'}</span>
        {agent.isolated && <span>isolated</span>}
        {agent.drives && <span>drives</span>}
        {agent.watch && <span>{`watches ${agent.watch.kinds.join(', ')}`}</span>}
        {description !== undefined && <bdi>{harmless(description)}</bdi>}
      </span>
      {(skills.length > 0 || members.length > 0) && (
        <span className="facts wraps">
          {skills.map((skill) => (
            <bdi key={skill} className="tag">
              {harmless(skill)}
            </bdi>
          ))}
          {members.map((member) => (
            <span key={member.project_key} className={`place ${tones[member.state]}`}>
              <bdi>{harmless(member.project)}</bdi>: {harmless(memberText(member, now))}
            </span>
          ))}
        </span>
      )}
    </>
  );
}
