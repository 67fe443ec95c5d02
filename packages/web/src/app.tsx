import type { PaneInfo } from '@polyphony/protocol';
import { type JSX, useEffect, useRef, useState, useSyncExternalStore } from 'react';
import { AgentsPage } from './agents/agents-page.tsx';
import { FloorPage } from './floor/floor-page.tsx';
import { Header } from './header.tsx';
import { HelpDialog } from './help-dialog.tsx';
import { MailPage } from './mail/mail-page.tsx';
import { WriteDialog } from './mail/write-dialog.tsx';
import type { HubState } from './page/hub-state.ts';
import { isNeedy, needsSomebody } from './page/pane-state.ts';
import { WithPersonas } from './page/personas.tsx';
import { usePlace } from './page/place.ts';
import { usePreference, useScheme } from './page/preferences.ts';
import { forgetKey } from './page/session-key.ts';
import { useSound } from './page/sound.ts';
import { Trouble } from './page/trouble.tsx';
import { useCommands } from './page/use-commands.ts';
import { useLive } from './page/use-live.ts';
import { LinkDialog } from './session/link-dialog.tsx';
import { SignIn } from './sign-in.tsx';
import { focusAgent, focusedAgent } from './terminals/adopted-list.tsx';
import { EndPaneDialog } from './terminals/end-pane-dialog.tsx';
import { useLayout } from './terminals/layout.ts';
import { NewPaneDialog } from './terminals/new-pane-dialog.tsx';
import { Terminals, type TerminalsHandle } from './terminals/terminals.tsx';
import { ContractsPage } from './work/contracts-page.tsx';
import { TasksPage } from './work/tasks-page.tsx';

type Question =
  | { readonly kind: 'help' | 'new' }
  | { readonly kind: 'write'; readonly to?: string | undefined }
  | { readonly kind: 'end'; readonly pane: PaneInfo }
  | { readonly kind: 'link'; readonly address: string };

/** Dialogs that do something tell by themselves what went wrong. */
const tellsTrouble: ReadonlySet<Question['kind']> = new Set(['new', 'end', 'write']);

const ageEveryMs = 5_000;
/** Long enough to read a message and its hint twice. */
const troubleForMs = 15_000;

/** The whole page: one of its views, and what is asked of the user. */
export function App({ hub }: { readonly hub: HubState }): JSX.Element {
  const { connection, known, panes, approvals, adopted, you, owner, trouble } = useSyncExternalStore(
    hub.subscribe,
    hub.snapshot,
  );
  const [place, go] = usePlace();
  const layout = useLayout();
  const [theme, setTheme] = usePreference('theme', 'system');
  const [reader, setReader] = usePreference('screen-reader', 'off');
  const [sound, setSound] = usePreference('sound', 'off');
  const { scheme, otherTheme } = useScheme(theme);
  const [question, setQuestion] = useState<Question>();
  const [now, setNow] = useState(Date.now);
  const terminals = useRef<TerminalsHandle>(null);
  const unread = useLive(hub, ['mail'], 'unread', () => hub.client.call('mail:overview', {}))?.unread ?? 0;
  const live = connection === 'live';
  const elsewhere = adopted.filter(({ status }) => isNeedy(status));
  const needing = [...panes.filter(needsSomebody), ...elsewhere];
  const isTold = question !== undefined && tellsTrouble.has(question.kind);

  /** A dialog begins without what went wrong before, and what it has told is not told again. */
  const ask = (next: Question | undefined): void => {
    setQuestion(next);
    hub.report(undefined);
  };
  const close = (): void => ask(undefined);
  // Whoever was invited may neither start nor end programs, and is not offered it.
  const start = owner ? (): void => ask({ kind: 'new' }) : undefined;
  const end = owner ? (pane: PaneInfo): void => ask({ kind: 'end', pane }) : undefined;
  const openPane = (paneId: string): void => {
    go({ view: 'terminals' });
    terminals.current?.openPane(paneId);
  };
  const commands = {
    help: () => ask({ kind: 'help' }),
    terminals: () => go({ view: 'terminals' }),
    floor: () => go({ view: 'floor' }),
    agents: () => go({ view: 'agents' }),
    mail: () => go({ view: 'mail' }),
    tasks: () => go({ view: 'tasks' }),
    contracts: () => go({ view: 'contracts' }),
    needed: () => {
      const here = focusedAgent() ?? layout.tiles[layout.active];
      const next = needing[(needing.findIndex(({ id }) => id === here) + 1) % needing.length];
      if (!next) return;
      // What runs elsewhere cannot be opened: the list says where it is.
      if (!elsewhere.includes(next as (typeof elsewhere)[number])) openPane(next.id);
      else {
        go({ view: 'terminals' });
        setTimeout(() => focusAgent(next.id)); // Once the list is there.
      }
    },
    approvals: () => {
      go({ view: 'terminals' });
      terminals.current?.goToApprovals();
    },
    theme: () => setTheme(otherTheme),
    dismiss: () => hub.report(undefined),
  };
  useCommands(commands);

  useEffect(() => {
    const ticking = setInterval(() => setNow(Date.now()), ageEveryMs);
    return () => clearInterval(ticking);
  }, []);
  useEffect(() => {
    if (!trouble || isTold) return;
    const going = setTimeout(() => hub.report(undefined), troubleForMs);
    return () => clearTimeout(going);
  }, [hub, trouble, isTold]);
  useEffect(() => {
    if (connection === 'refused') forgetKey();
  }, [connection]);
  useEffect(() => {
    const waiting = approvals.length + needing.length;
    document.title = waiting > 0 ? `(${waiting}) Polyphony` : 'Polyphony';
  }, [approvals.length, needing.length]);
  useSound(sound === 'on', needing.length);

  if (connection === 'refused')
    return <SignIn problem="its key has expired, or the hub has another token now." />;
  const { view, item } = place;
  return (
    <WithPersonas hub={hub}>
      <div className="app">
        <Header
          view={view}
          connection={connection}
          waiting={approvals.length}
          needing={needing.length}
          unread={unread}
          count={layout.count}
          theme={theme}
          onCount={layout.setCount}
          onNew={start}
          onTheme={commands.theme}
          onHelp={commands.help}
          onNeeded={commands.needed}
          onApprovals={commands.approvals}
        />
        <Terminals
          ref={terminals}
          hub={hub}
          known={known}
          panes={panes}
          approvals={approvals}
          adopted={adopted}
          live={live}
          isShown={view === 'terminals'}
          layout={layout}
          scheme={scheme}
          screenReader={reader === 'on'}
          isAsking={question !== undefined}
          now={now}
          owner={owner}
          onNew={start}
          onEnd={end}
          onLink={(address) => ask({ kind: 'link', address })}
        />
        {view === 'floor' && (
          <FloorPage
            hub={hub}
            panes={panes}
            adopted={adopted}
            approvals={approvals}
            open={item}
            now={now}
            you={you}
            owner={owner}
            scheme={scheme}
            screenReader={reader === 'on'}
            onOpen={(opened) => go({ view, item: opened })}
            onPane={openPane}
            onEnd={end}
            onLink={(address) => ask({ kind: 'link', address })}
          />
        )}
        {view === 'agents' && (
          <AgentsPage
            hub={hub}
            panes={panes}
            open={item}
            now={now}
            onOpen={(agent) => go({ view, item: agent })}
            onPane={openPane}
            onWrite={(to) => ask({ kind: 'write', to })}
          />
        )}
        {view === 'mail' && (
          <MailPage
            hub={hub}
            open={item}
            unread={unread}
            now={now}
            onOpen={(thread) => go({ view: 'mail', item: thread })}
            onWrite={() => ask({ kind: 'write' })}
          />
        )}
        {view === 'tasks' && <TasksPage hub={hub} now={now} />}
        {view === 'contracts' && (
          <ContractsPage
            hub={hub}
            open={item}
            now={now}
            onOpen={(contract) => go({ view, item: contract })}
          />
        )}
        {trouble && !isTold && <Trouble trouble={trouble} onRead={commands.dismiss} />}
        {question?.kind === 'help' && (
          <HelpDialog
            screenReader={reader === 'on'}
            onScreenReader={(on) => setReader(on ? 'on' : 'off')}
            sound={sound === 'on'}
            onSound={(on) => setSound(on ? 'on' : 'off')}
            onClose={close}
          />
        )}
        {question?.kind === 'new' && (
          <NewPaneDialog
            hub={hub}
            size={terminals.current?.sizeHere()}
            onStarted={openPane}
            onClose={close}
          />
        )}
        {question?.kind === 'write' && (
          <WriteDialog
            hub={hub}
            to={question.to}
            onSent={(thread) => go({ view: 'mail', item: thread })}
            onClose={close}
          />
        )}
        {question?.kind === 'end' && <EndPaneDialog hub={hub} pane={question.pane} onClose={close} />}
        {question?.kind === 'link' && <LinkDialog address={question.address} onClose={close} />}
      </div>
    </WithPersonas>
  );
}
