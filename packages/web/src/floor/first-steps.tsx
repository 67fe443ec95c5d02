import type { FloorSession, PaneInfo } from '@polyphony/protocol';
import type { JSX } from 'react';
import { CopyCommand } from '../page/copy-command.tsx';
import type { HubState } from '../page/hub-state.ts';
import { useLive } from '../page/use-live.ts';

interface FirstStepsProps {
  readonly hub: HubState;
  readonly sessions: readonly FloorSession[];
  readonly panes: readonly PaneInfo[];
  /** Nothing else is there to be shown. */
  readonly isNew: boolean;
}

interface Seen {
  readonly sessions: readonly FloorSession[];
  readonly panes: readonly PaneInfo[];
  /** How much coding agents have told since the hub began. */
  readonly captured: number;
}

interface Step {
  readonly title: string;
  readonly why: string;
  readonly command: (seen: Seen) => string;
  readonly isDone: (seen: Seen) => boolean;
}

const isAgent = ({ meta, status }: PaneInfo): boolean =>
  meta['agent.runtime'] !== undefined && status === 'running';
const hasPrompts = ({ prompts }: FloorSession): boolean => prompts > 0;

/** From nothing to a session that others can follow; each is done when the hub sees that it is. */
const steps: readonly Step[] = [
  {
    title: 'Install the hooks',
    why: 'Your coding agents then tell the hub what they do, each event once, whether it runs or not.',
    command: () => 'poly hooks install',
    isDone: ({ captured, sessions }) => captured > 0 || sessions.some(hasPrompts),
  },
  {
    title: 'Start an agent',
    why: 'In a pane, where you and others can see its terminal.',
    command: () => 'poly agent create -- claude',
    isDone: ({ panes, sessions }) => panes.some(isAgent) || sessions.length > 0,
  },
  {
    title: 'Join a project',
    why: 'What the agent does from now on is put into a session of that project.',
    command: ({ panes }) => `poly join shop --pane ${panes.find(isAgent)?.id ?? 'PANE'}`,
    isDone: ({ sessions }) => sessions.length > 0,
  },
  {
    title: 'Ask it for something',
    why: 'Type into its terminal: your prompt, its tools and its answer become the story of the session.',
    command: ({ panes }) => `poly attach ${panes.find(isAgent)?.id ?? 'PANE'}`,
    isDone: ({ sessions }) => sessions.some(hasPrompts),
  },
  {
    title: 'Give the seat away, and take it back',
    why: 'One drives at a time; everybody else advises. Who takes the seat is told what happened.',
    command: ({ sessions }) => `poly handoff ${sessions[0]?.slug ?? 'SESSION'}`,
    isDone: ({ sessions }) => sessions.some(({ fence }) => fence > 1),
  },
];

/** How to begin, with what is done already ticked; gone once everything is. */
export function FirstSteps({ hub, sessions, panes, isNew }: FirstStepsProps): JSX.Element | null {
  const captured = useLive(hub, ['agent', 'floor'], 'captured', async () => {
    try {
      return (await hub.client.call('server:status', {})).gauges.captured ?? 0;
    } catch {
      return undefined; // Whoever was invited may not ask, and has nothing to set up.
    }
  });
  const seen: Seen = { sessions, panes, captured: captured ?? 0 };
  const done = steps.filter(({ isDone }) => isDone(seen));
  if (captured === undefined || (!isNew && done.length === steps.length)) return null;
  const list = (
    <ol className="steps">
      {steps.map((step) => {
        const isDone = step.isDone(seen);
        return (
          <li key={step.title} data-done={isDone} aria-current={step === next(seen) ? 'step' : undefined}>
            <span className="tick" role="img" aria-label={isDone ? 'done' : 'to do'}>
              {isDone ? '✓' : ''}
            </span>
            <div>
              <h3>{step.title}</h3>
              <p className="dim">{step.why}</p>
              {!isDone && <CopyCommand command={step.command(seen)} />}
            </div>
          </li>
        );
      })}
    </ol>
  );
  if (isNew)
    return (
      <section className="first-steps" aria-label="First steps">
        <h2>Nobody is on the floor yet</h2>
        <p className="dim">
          Here people and agents share projects: they follow each other’s sessions, advise, and hand over.
        </p>
        {list}
      </section>
    );
  return (
    <details className="first-steps">
      <summary>
        First steps: {done.length} of {steps.length} done
      </summary>
      {list}
    </details>
  );
}

const next = (seen: Seen): Step | undefined => steps.find(({ isDone }) => !isDone(seen));
