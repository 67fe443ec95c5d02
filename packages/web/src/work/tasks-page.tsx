import type { Task } from '@polyphony/protocol';
import { type JSX, useState } from 'react';
import type { HubState } from '../page/hub-state.ts';
import { ProjectChoice } from '../page/project-choice.tsx';
import { Teaching } from '../page/teaching.tsx';
import { useCommands } from '../page/use-commands.ts';
import { useLive } from '../page/use-live.ts';
import { TaskCard } from './task-card.tsx';

interface Column {
  readonly title: string;
  /** What stands in an empty one. */
  readonly none: string;
  readonly holds: (task: Task) => boolean;
}

/** Each task stands in the first column that holds it. */
const columns: readonly Column[] = [
  {
    title: 'Stale',
    none: 'No contract has changed under a task.',
    holds: ({ status, stale }) => stale && status !== 'completed',
  },
  {
    title: 'Ready',
    none: 'Nothing can be claimed now.',
    holds: ({ status, ready }) => status === 'pending' && ready,
  },
  { title: 'Claimed', none: 'Nobody holds a task.', holds: ({ status }) => status === 'in_progress' },
  { title: 'Waiting', none: 'No task waits for another.', holds: ({ status }) => status === 'pending' },
  { title: 'Done', none: 'Nothing is done yet.', holds: ({ status }) => status === 'completed' },
];
/** From what can be begun to what is done; what a changed contract holds up stands before that. */
const shown = ['Ready', 'Waiting', 'Claimed', 'Stale', 'Done'];
const most = 500;

/** What there is to do: who can begin with what, who holds what until when, and what came of it. */
export function TasksPage({ hub, now }: { readonly hub: HubState; readonly now: number }): JSX.Element {
  const [project, setProject] = useState('');
  const known = useLive(hub, ['task', 'contract'], 'tasks', () =>
    hub.client.call('task:list', { limit: most }),
  );
  const all = known?.tasks ?? [];
  const tasks = project === '' ? all : all.filter((task) => task.project === project);
  const projects = [...new Set(all.map((task) => task.project))].sort();
  useCommands({
    next: () => focusCard((place) => place + 1),
    previous: () => focusCard((place) => place - 1),
    first: () => focusCard(() => 0),
    last: () => focusCard(() => Number.MAX_SAFE_INTEGER),
  });
  if (known && all.length === 0)
    return (
      <main className="view whole">
        <Teaching title="No tasks yet" command='poly task add "Write the parser"'>
          A task is claimed by one agent at a time, with a lease that runs out when it dies. It waits for the
          tasks it depends on, and turns stale when a contract it is built on changes. Add one:
        </Teaching>
      </main>
    );
  return (
    <main className="view whole board-view">
      {(projects.length > 1 || known?.has_more) && (
        <div className="side-tools">
          <ProjectChoice projects={projects} chosen={project} onChoose={setProject} />
          {known?.has_more && <p className="dim">Only the first {most} tasks are shown.</p>}
        </div>
      )}
      <div className="board">
        {shown.map((title) => {
          const here = tasks.filter((task) => columns.find(({ holds }) => holds(task))?.title === title);
          // What was done last stands first.
          const cards = title === 'Done' ? here.toReversed() : here;
          return (
            <section key={title} className="column" aria-label={title}>
              <h2>
                {title} <span className="dim">{cards.length}</span>
              </h2>
              <ul>
                {cards.map((task) => (
                  <li key={task.task_id}>
                    <TaskCard task={task} all={all} showsProject={projects.length > 1} now={now} />
                  </li>
                ))}
              </ul>
              {known && cards.length === 0 && (
                <p className="dim">{columns.find((column) => column.title === title)?.none}</p>
              )}
            </section>
          );
        })}
      </div>
    </main>
  );
}

/** Cards have the focus one by one; Enter shows all of one. */
function focusCard(to: (place: number) => number): void {
  const cards = [...document.querySelectorAll<HTMLElement>('.board summary')];
  const place = cards.indexOf(document.activeElement as HTMLElement);
  cards[Math.max(0, Math.min(cards.length - 1, to(place)))]?.focus();
}
