import type { PaneInfo } from '@polyphony/protocol';
import { type JSX, useEffect, useRef, useState, useSyncExternalStore } from 'react';
import { Approvals } from './approvals.tsx';
import { useAttention } from './attention.ts';
import { EndPaneDialog } from './end-pane-dialog.tsx';
import { Header } from './header.tsx';
import { HelpDialog } from './help-dialog.tsx';
import type { HubState } from './hub-state.ts';
import { type Command, commandOfKey } from './keys.ts';
import { useLayout } from './layout.ts';
import { LinkDialog } from './link-dialog.tsx';
import { useMovement } from './movement.ts';
import { NewPaneDialog } from './new-pane-dialog.tsx';
import { PaneList } from './pane-list.tsx';
import { commandOf, needsSomebody } from './pane-state.ts';
import { PaneTile, type TileHandle } from './pane-tile.tsx';
import { usePreference, useScheme } from './preferences.ts';
import { forgetKey } from './session-key.ts';
import { SignIn } from './sign-in.tsx';
import { useSound } from './sound.ts';
import { Trouble } from './trouble.tsx';

type Question =
  | { readonly kind: 'help' | 'new' }
  | { readonly kind: 'end'; readonly pane: PaneInfo }
  | { readonly kind: 'link'; readonly address: string };

const ageEveryMs = 5_000;
/** Long enough to read a message and its hint twice. */
const troubleForMs = 15_000;

/** The whole page: list, tiles, and what is asked of the user. */
export function App({ hub }: { readonly hub: HubState }): JSX.Element {
  const { connection, panes, approvals, trouble } = useSyncExternalStore(hub.subscribe, hub.snapshot);
  const layout = useLayout();
  const [theme, setTheme] = usePreference('theme', 'system');
  const [reader, setReader] = usePreference('screen-reader', 'off');
  const [sound, setSound] = usePreference('sound', 'off');
  const [chosenLetters, setLetters] = usePreference('letters', '');
  const letters = lettersOf(chosenLetters);
  const { scheme, otherTheme } = useScheme(theme);
  const [filter, setFilter] = useState('');
  const [selected, setSelected] = useState<string>();
  const [question, setQuestion] = useState<Question>();
  /** On a phone either the list or a pane is shown. */
  const [showsPane, setShowsPane] = useState(layout.tiles[layout.active] !== undefined);
  const [now, setNow] = useState(Date.now);
  const filterField = useRef<HTMLInputElement>(null);
  const handles = useRef<(TileHandle | null)[]>([]);
  const focusNext = useRef<number>(undefined);

  const listed = filtered(panes, filter);
  const current = listed.some(({ id }) => id === selected) ? selected : listed[0]?.id;
  const tiles = Array.from({ length: layout.count }, (_, tile) =>
    panes.find(({ id }) => id === layout.tiles[tile]),
  );
  const activePane = tiles[layout.active];
  /** A dialog that does something tells by itself what went wrong. */
  const tellsTrouble = question?.kind === 'new' || question?.kind === 'end';

  /** A dialog begins without what went wrong before, and what it has told is not told again. */
  const ask = (next: Question | undefined): void => {
    setQuestion(next);
    hub.report(undefined);
  };
  const focusList = (): void => {
    setShowsPane(false);
    document.getElementById('panes')?.focus();
  };
  const openPane = (paneId: string): void => {
    layout.open(paneId);
    setSelected(paneId);
    setShowsPane(true);
    focusNext.current = -1;
  };
  const needing = panes.filter(needsSomebody);
  const move = (to: (place: number) => number): void => {
    const place = to(listed.findIndex(({ id }) => id === current));
    setSelected(listed[Math.max(0, Math.min(listed.length - 1, place))]?.id);
  };
  const end = (paneId: string | undefined): void => {
    const pane = panes.find(({ id }) => id === paneId);
    if (pane) ask({ kind: 'end', pane });
  };
  const inTile = (work: (tile: TileHandle) => void): void => {
    const tile = handles.current[layout.active];
    if (tile) work(tile);
  };

  const commands: Readonly<Record<Command, () => void>> = {
    filter: () => filterField.current?.focus(),
    help: () => ask({ kind: 'help' }),
    next: () => move((place) => place + 1),
    previous: () => move((place) => place - 1),
    first: () => move(() => 0),
    last: () => move(() => listed.length - 1),
    open: () => current !== undefined && openPane(current),
    needed: () => {
      const open = needing.findIndex(({ id }) => id === activePane?.id);
      const next = needing[(open + 1) % needing.length];
      if (next) openPane(next.id);
    },
    new: () => ask({ kind: 'new' }),
    end: () => end(current),
    search: () => inTile((tile) => tile.search()),
    fit: () => inTile((tile) => tile.fit()),
    follow: () => inTile((tile) => tile.follow()),
    one: () => layout.setCount(1),
    two: () => layout.setCount(2),
    four: () => layout.setCount(4),
    approvals: () => document.querySelector<HTMLElement>('.approvals button')?.focus(),
    theme: () => setTheme(otherTheme),
    larger: () => inTile((tile) => tile.changeLetters(1)),
    smaller: () => inTile((tile) => tile.changeLetters(-1)),
    fitting: () => setLetters(''),
    dismiss: () => hub.report(undefined),
  };
  const latest = useRef(commands);
  latest.current = commands;

  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      const command = commandOfKey(event);
      if (!command) return;
      event.preventDefault();
      latest.current[command]();
    };
    document.addEventListener('keydown', onKey);
    const ticking = setInterval(() => setNow(Date.now()), ageEveryMs);
    document.getElementById('panes')?.focus();
    return () => {
      document.removeEventListener('keydown', onKey);
      clearInterval(ticking);
    };
  }, []);
  useEffect(() => {
    if (!trouble || tellsTrouble) return;
    const going = setTimeout(() => hub.report(undefined), troubleForMs);
    return () => clearTimeout(going);
  }, [hub, trouble, tellsTrouble]);
  useEffect(() => {
    if (connection === 'refused') forgetKey();
  }, [connection]);
  useEffect(() => {
    const waiting = approvals.length + needing.length;
    document.title = waiting > 0 ? `(${waiting}) Polyphony` : 'Polyphony';
  }, [approvals.length, needing.length]);
  const movement = useMovement(approvals.map(({ id }) => id));
  useSound(sound === 'on', needing.length);
  useAttention(
    hub,
    tiles.flatMap((pane) => pane?.id ?? []),
  );
  useEffect(() => {
    // After the tile that was asked for is there, and the dialog that asked for it has given the focus back.
    if (focusNext.current === undefined || !activePane || question) return;
    focusNext.current = undefined;
    handles.current[layout.active]?.focus();
  });

  if (connection === 'refused')
    return <SignIn problem="its key has expired, or the hub has another token now." />;
  return (
    <div className="app" data-shows={showsPane && activePane ? 'pane' : 'list'}>
      <Header
        connection={connection}
        waiting={approvals.length}
        needing={needing.length}
        count={layout.count}
        theme={theme}
        onCount={layout.setCount}
        onNew={commands.new}
        onTheme={commands.theme}
        onHelp={commands.help}
        onNeeded={commands.needed}
        onApprovals={() => {
          focusList();
          commands.approvals();
        }}
      />
      <nav className="side" aria-label="Panes" data-moves={movement}>
        <Approvals
          hub={hub}
          approvals={approvals}
          movement={movement}
          live={connection === 'live'}
          now={now}
        />
        <input
          ref={filterField}
          type="search"
          className="filter"
          aria-label="Filter the list"
          placeholder="Filter  ( / )"
          value={filter}
          spellCheck={false}
          autoComplete="off"
          onChange={(event) => setFilter(event.currentTarget.value)}
          onKeyDown={(event) => {
            if (event.key === 'Escape') setFilter('');
            if (event.key === 'Escape' || event.key === 'Enter' || event.key === 'ArrowDown') {
              event.preventDefault();
              event.stopPropagation();
              focusList();
            }
          }}
        />
        <PaneList
          panes={listed}
          now={now}
          selected={current}
          open={new Set(layout.tiles.filter((id) => id !== undefined))}
          onSelect={setSelected}
          onOpen={openPane}
        />
        {listed.length === 0 && connection === 'live' && (
          <p className="empty dim">{panes.length === 0 ? 'No panes yet. c starts one.' : 'No pane fits.'}</p>
        )}
      </nav>
      <main className="tiles" data-count={layout.count}>
        {tiles.map((pane, tile) =>
          pane ? (
            <PaneTile
              key={`${pane.id} ${pane.createdAt}`}
              ref={(handle) => {
                handles.current[tile] = handle;
              }}
              hub={hub}
              pane={pane}
              active={tile === layout.active}
              scheme={scheme}
              screenReader={reader === 'on'}
              letters={letters}
              onActivate={() => layout.activate(tile)}
              onLeave={focusList}
              onEnd={() => end(pane.id)}
              onClose={() => {
                layout.close(tile);
                focusList();
              }}
              onLink={(address) => ask({ kind: 'link', address })}
              onLetters={(size) => setLetters(String(lettersOf(String(size))))}
            />
          ) : (
            <button
              // biome-ignore lint/suspicious/noArrayIndexKey: an empty tile is nothing but its place.
              key={`empty ${tile}`}
              type="button"
              className="tile empty-tile"
              data-active={tile === layout.active}
              onClick={() => {
                layout.activate(tile);
                focusList();
              }}
            >
              Choose a pane from the list, or start one with c.
            </button>
          ),
        )}
      </main>
      {trouble && !tellsTrouble && <Trouble trouble={trouble} onRead={commands.dismiss} />}
      {question?.kind === 'help' && (
        <HelpDialog
          screenReader={reader === 'on'}
          onScreenReader={(on) => setReader(on ? 'on' : 'off')}
          sound={sound === 'on'}
          onSound={(on) => setSound(on ? 'on' : 'off')}
          onClose={() => ask(undefined)}
        />
      )}
      {question?.kind === 'new' && (
        <NewPaneDialog
          hub={hub}
          size={handles.current[layout.active]?.sizeHere()}
          onStarted={openPane}
          onClose={() => ask(undefined)}
        />
      )}
      {question?.kind === 'end' && (
        <EndPaneDialog hub={hub} pane={question.pane} onClose={() => ask(undefined)} />
      )}
      {question?.kind === 'link' && <LinkDialog address={question.address} onClose={() => ask(undefined)} />}
    </div>
  );
}

const smallest = 7;
const largest = 32;

/** A size of letters that can be read and drawn, in pixels; undefined when none was chosen. */
function lettersOf(chosen: string): number | undefined {
  const size = Number(chosen);
  return size > 0 ? Math.max(smallest, Math.min(largest, size)) : undefined;
}

function filtered(panes: readonly PaneInfo[], filter: string): readonly PaneInfo[] {
  const words = filter.toLowerCase().split(/\s+/).filter(Boolean);
  return panes.filter((pane) => {
    const text = `${pane.id} ${pane.title} ${commandOf(pane)} ${pane.status}`.toLowerCase();
    return words.every((word) => text.includes(word));
  });
}
