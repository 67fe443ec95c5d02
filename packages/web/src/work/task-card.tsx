import type { Task } from '@polyphony/protocol';
import { Fragment, type JSX } from 'react';
import { harmless, harmlessLines } from '../page/harmless.ts';
import { ageOf } from '../page/pane-state.ts';
import { untilOf } from '../page/until.ts';
import { Who } from '../page/who.tsx';

interface TaskCardProps {
  readonly task: Task;
  /** To say what it waits for in words. */
  readonly all: readonly Task[];
  readonly showsProject: boolean;
  readonly now: number;
}

/** One task on the board; opened, everything that is known of it. */
export function TaskCard({ task, all, showsProject, now }: TaskCardProps): JSX.Element {
  const { title, status, owner, lease_until, waits_for, contracts, project } = task;
  const stale = status === 'completed' ? [] : contracts.filter((contract) => contract.stale);
  const left = lease_until === undefined ? undefined : (untilOf(lease_until, now) ?? 'no time');
  return (
    <details className="card" data-stale={stale.length > 0}>
      <summary>
        <bdi className="title">{harmless(title)}</bdi>
        <span className="facts">
          {owner !== undefined && <Who id={owner} />}
          {status === 'in_progress' && left !== undefined && <span>{left} left</span>}
          {status === 'completed' && task.completed_at !== undefined && (
            <span>{ageOf(task.completed_at, now)} ago</span>
          )}
          {showsProject && <bdi>{harmless(project)}</bdi>}
        </span>
        {stale.map(({ name, version, current }) => (
          <span key={name} className="reason">
            <bdi>{harmless(name)}</bdi> is at version {current}, built on {version}
          </span>
        ))}
        {waits_for.length > 0 && (
          <span className="waits dim">
            waits for <bdi>{waits_for.map((id) => titleOf(id, all)).join(', ')}</bdi>
          </span>
        )}
      </summary>
      <dl className="facts-list">
        {factsOf(task, all, now).map(([term, value]) => (
          <Fragment key={term}>
            <dt className="dim">{term}</dt>
            <dd>{isWritten.has(term) ? <pre dir="auto">{value}</pre> : <bdi>{value}</bdi>}</dd>
          </Fragment>
        ))}
      </dl>
    </details>
  );
}

/** What somebody wrote stands letter by letter. */
const isWritten: ReadonlySet<string> = new Set(['description', 'result']);

const titleOf = (id: string, all: readonly Task[]): string =>
  harmless(all.find((task) => task.task_id === id)?.title ?? id);

function factsOf(task: Task, all: readonly Task[], now: number): readonly (readonly [string, string])[] {
  const { depends_on, contracts, result } = task;
  const facts: readonly (readonly [string, string | undefined])[] = [
    ['id', task.task_id],
    ['description', task.description === undefined ? undefined : harmlessLines(task.description)],
    ['depends on', depends_on.map((id) => titleOf(id, all)).join(', ')],
    ['built on', contracts.map(({ name, version }) => `${harmless(name)} version ${version}`).join(', ')],
    ['lease', task.lease_until && `until ${new Date(task.lease_until).toLocaleString()}`],
    ['claims so far', task.fence > 0 ? String(task.fence) : undefined],
    ['result', result === undefined || result === null ? undefined : resultOf(result)],
    ['added', `${ageOf(task.created_at, now)} ago by ${harmless(task.created_by)}`],
  ];
  return facts.flatMap(([term, value]) =>
    value === undefined || value === '' ? [] : [[term, value] as const],
  );
}

const resultOf = (result: unknown): string =>
  harmlessLines(typeof result === 'string' ? result : JSON.stringify(result, undefined, 2));
