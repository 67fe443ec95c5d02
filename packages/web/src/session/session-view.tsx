import type { AgentInfo, Approval, FloorSession, PaneInfo } from '@polyphony/protocol';
import { type JSX, useEffect, useRef, useState } from 'react';
import { harmless } from '../page/harmless.ts';
import type { HubState } from '../page/hub-state.ts';
import { ageOf } from '../page/pane-state.ts';
import { addressOf } from '../page/place.ts';
import type { Scheme } from '../page/terminal-themes.ts';
import { useCommands } from '../page/use-commands.ts';
import { useLive } from '../page/use-live.ts';
import { useAttention } from '../terminals/attention.ts';
import { PaneTile } from '../terminals/pane-tile.tsx';
import { AdviseBox } from './advise-box.tsx';
import { SessionAbout } from './session-about.tsx';
import { SessionChanges } from './session-changes.tsx';
import { SessionDigest } from './session-digest.tsx';
import { SessionSeat } from './session-seat.tsx';
import { paneOf, sessionState } from './session-state.ts';
import { StoryView } from './story-view.tsx';

export interface SessionViewProps {
  readonly hub: HubState;
  readonly session: string;
  /** The entry that is meant. */
  readonly entry: string | undefined;
  readonly panes: readonly PaneInfo[];
  readonly adopted: readonly AgentInfo[];
  readonly approvals: readonly Approval[];
  readonly now: number;
  readonly you: string | undefined;
  /** Whether the hub is that of whoever looks. */
  readonly owner: boolean;
  readonly scheme: Scheme;
  readonly screenReader: boolean;
  readonly onBack: () => void;
  /** Goes to an entry of it. */
  readonly onEntry: (entry: string) => void;
  readonly onPane: (paneId: string) => void;
  readonly onEnd: ((pane: PaneInfo) => void) | undefined;
  readonly onLink: (address: string) => void;
}

type Side = 'story' | 'terminal' | 'changes' | 'digest' | 'about';

/** One session: its story, and beside it the terminal of its agent, what changed, or what is known of it. */
export function SessionView(props: SessionViewProps): JSX.Element {
  const { hub, session: id, entry, panes, adopted, approvals, now, you, owner, scheme, screenReader } = props;
  const { onBack, onEntry, onPane, onEnd, onLink } = props;
  const session = useLive(hub, ['floor', 'project'], id, () =>
    hub.client.call('floor:session', { session: id }),
  );
  const pane = session && paneOf(session, panes);
  const [chosen, setSide] = useState<Side>();
  const sides: readonly Side[] = [
    'story',
    ...(pane ? (['terminal'] as const) : []),
    'changes',
    'digest',
    'about',
  ];
  const side = chosen && sides.includes(chosen) ? chosen : 'story';
  // Wide enough for both, the story is always there.
  const beside = side === 'story' ? (pane ? 'terminal' : 'about') : side;
  useAttention(hub, pane && beside === 'terminal' ? [pane.id] : []);
  const whole = useRef<HTMLElement>(null);
  // The list that had the focus is gone.
  useEffect(() => whole.current?.focus(), []);
  useCommands({ back: onBack, since: () => setSide('changes') });
  const driver = session?.driver;
  const drove = useRef(driver);
  // Whoever gets the seat, taken or given, reads at once what happened.
  useEffect(() => {
    if (drove.current !== undefined && drove.current !== driver && driver !== undefined && driver === you)
      setSide('digest');
    if (session) drove.current = driver ?? '';
  }, [session, driver, you]);
  return (
    <main ref={whole} className="view whole session" tabIndex={-1} data-side={side} aria-label="Session">
      <header className="session-bar">
        <a className="up" href={addressOf({ view: 'floor' })} title="Back to the floor (u)">
          ‹ Floor
        </a>
        {session && <Heading session={session} panes={panes} adopted={adopted} now={now} />}
        <span className="space" />
        {session && <SessionSeat hub={hub} session={session} approvals={approvals} you={you} now={now} />}
      </header>
      <nav className="tabs sides" aria-label="Beside the story">
        {sides.map((one) => (
          <button
            key={one}
            type="button"
            className={one === 'story' ? 'only-narrow' : undefined}
            aria-pressed={one === side}
            data-beside={one === beside}
            onClick={() => setSide(one)}
          >
            {words[one]}
          </button>
        ))}
      </nav>
      <StoryView key={id} hub={hub} session={id} entry={entry} now={now} you={you}>
        {session && session.archived_at === undefined && <AdviseBox hub={hub} session={session} you={you} />}
      </StoryView>
      <aside className="beside" aria-label={words[beside]}>
        {beside === 'terminal' && pane && (
          <PaneTile
            key={`${pane.id} ${pane.createdAt}`}
            ref={null}
            hub={hub}
            pane={pane}
            active
            scheme={scheme}
            screenReader={screenReader}
            letters={undefined}
            onActivate={nothing}
            onLeave={() => document.querySelector<HTMLElement>('.entry:last-child')?.focus()}
            onEnd={onEnd && (() => onEnd(pane))}
            onClose={() => setSide('about')}
            onLink={onLink}
            onLetters={nothing}
          />
        )}
        {beside === 'changes' && (
          <SessionChanges hub={hub} session={id} now={now} you={you} onEntry={onEntry} onLink={onLink} />
        )}
        {beside === 'digest' && <SessionDigest hub={hub} session={id} />}
        {beside === 'about' && session && (
          <SessionAbout
            hub={hub}
            session={session}
            now={now}
            owner={owner}
            onEntry={onEntry}
            onPane={onPane}
            onLink={onLink}
          />
        )}
      </aside>
    </main>
  );
}

const words: Readonly<Record<Side, string>> = {
  story: 'Story',
  terminal: 'Terminal',
  changes: 'What changed',
  digest: 'Digest',
  about: 'About',
};

const nothing = (): void => {};

function Heading({
  session,
  panes,
  adopted,
  now,
}: Pick<SessionViewProps, 'panes' | 'adopted' | 'now'> & { readonly session: FloorSession }): JSX.Element {
  const { slug, label, project } = session;
  const { label: word, tone, since, reason } = sessionState(session, panes, adopted);
  return (
    <>
      <h2>
        <bdi className="of">{harmless(project)}</bdi> <bdi className="mono slug">{harmless(slug)}</bdi>{' '}
        {label !== undefined && <bdi>{harmless(label)}</bdi>}
      </h2>
      <span className={`state ${tone}`}>
        {word}
        {since !== undefined && ` ${ageOf(since, now)}`}
        {reason !== undefined && (
          <>
            : <bdi>{reason}</bdi>
          </>
        )}
      </span>
    </>
  );
}
