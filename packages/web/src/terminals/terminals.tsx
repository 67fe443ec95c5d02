import type { AgentInfo, Approval, PaneInfo } from '@polyphony/protocol';
import { type JSX, type Ref, useEffect, useImperativeHandle, useRef, useState } from 'react';
import type { HubState } from '../page/hub-state.ts';
import { useMovement } from '../page/movement.ts';
import { commandOf, stateOf } from '../page/pane-state.ts';
import { usePreference } from '../page/preferences.ts';
import { Teaching } from '../page/teaching.tsx';
import type { Scheme } from '../page/terminal-themes.ts';
import { useCommands } from '../page/use-commands.ts';
import { AdoptedList } from './adopted-list.tsx';
import { Approvals } from './approvals.tsx';
import { useAttention } from './attention.ts';
import type { LayoutControl } from './layout.ts';
import { PaneList } from './pane-list.tsx';
import { PaneTile, type TileHandle } from './pane-tile.tsx';

/** What the rest of the page can do with the terminals. */
export interface TerminalsHandle {
  openPane(paneId: string): void;
  goToApprovals(): void;
  /** The size of the tile in which the next pane opens. */
  sizeHere(): { readonly cols: number; readonly rows: number } | undefined;
}

interface TerminalsProps {
  readonly hub: HubState;
  /** Whether the list has been read at all. */
  readonly known: boolean;
  readonly panes: readonly PaneInfo[];
  readonly approvals: readonly Approval[];
  /** Agents that run in no pane of the hub. */
  readonly adopted: readonly AgentInfo[];
  readonly live: boolean;
  /** Another view hides them and lets them live. */
  readonly isShown: boolean;
  readonly layout: LayoutControl;
  readonly scheme: Scheme;
  readonly screenReader: boolean;
  /** A dialog stands before everything else. */
  readonly isAsking: boolean;
  readonly now: number;
  readonly ref: Ref<TerminalsHandle>;
  /** Whether the hub is that of whoever looks. */
  readonly owner: boolean;
  /** These two are left out where nobody here may start or end a program. */
  readonly onNew: (() => void) | undefined;
  readonly onEnd: ((pane: PaneInfo) => void) | undefined;
  readonly onLink: (address: string) => void;
}

/** The list of panes, and terminals in tiles. */
export function Terminals(props: TerminalsProps): JSX.Element {
  const { hub, panes, approvals, adopted, live, isShown, layout, scheme, screenReader, isAsking } = props;
  const { known, now, owner, ref, onNew, onEnd } = props;
  const [chosenLetters, setLetters] = usePreference('letters', '');
  const letters = lettersOf(chosenLetters);
  const [filter, setFilter] = useState('');
  const [selected, setSelected] = useState<string>();
  /** On a phone either the list or a pane is shown. */
  const [showsPane, setShowsPane] = useState(layout.tiles[layout.active] !== undefined);
  const filterField = useRef<HTMLInputElement>(null);
  const handles = useRef<(TileHandle | null)[]>([]);
  /** What gets the focus as soon as it is there. */
  const [wish, setWish] = useState<{ readonly on: 'tile' | 'approvals' }>();
  const granted = useRef(wish);

  const listed = filtered(panes, filter);
  const current = listed.some(({ id }) => id === selected) ? selected : listed[0]?.id;
  const tiles = Array.from({ length: layout.count }, (_, tile) =>
    panes.find(({ id }) => id === layout.tiles[tile]),
  );
  const activePane = tiles[layout.active];

  const focusList = (): void => {
    setShowsPane(false);
    document.getElementById('panes')?.focus();
  };
  const openPane = (paneId: string): void => {
    layout.open(paneId);
    // What is open stands in the list, so that its keys mean that pane and no other.
    if (!listed.some(({ id }) => id === paneId)) setFilter('');
    setSelected(paneId);
    setShowsPane(true);
    setWish({ on: 'tile' });
  };
  const move = (to: (place: number) => number): void => {
    const place = to(listed.findIndex(({ id }) => id === current));
    setSelected(listed[Math.max(0, Math.min(listed.length - 1, place))]?.id);
  };
  const end = (paneId: string | undefined): void => {
    const pane = panes.find(({ id }) => id === paneId);
    if (pane) onEnd?.(pane);
  };
  const inTile = (work: (tile: TileHandle) => void): void => {
    const tile = handles.current[layout.active];
    if (tile) work(tile);
  };
  useImperativeHandle(ref, () => ({
    openPane,
    goToApprovals: () => {
      setShowsPane(false);
      setWish({ on: 'approvals' });
    },
    sizeHere: () => handles.current[layout.active]?.sizeHere(),
  }));
  useCommands(
    {
      filter: () => filterField.current?.focus(),
      next: () => move((place) => place + 1),
      previous: () => move((place) => place - 1),
      first: () => move(() => 0),
      last: () => move(() => listed.length - 1),
      open: () => current !== undefined && openPane(current),
      new: () => onNew?.(),
      end: () => end(current),
      search: () => inTile((tile) => tile.search()),
      fit: () => inTile((tile) => tile.fit()),
      follow: () => inTile((tile) => tile.follow()),
      one: () => layout.setCount(1),
      two: () => layout.setCount(2),
      four: () => layout.setCount(4),
      larger: () => inTile((tile) => tile.changeLetters(1)),
      smaller: () => inTile((tile) => tile.changeLetters(-1)),
      fitting: () => setLetters(''),
    },
    isShown,
  );
  const movement = useMovement(approvals.map(({ id }) => id));
  useAttention(hub, isShown ? tiles.flatMap((pane) => pane?.id ?? []) : []);
  useEffect(() => {
    if (isShown) document.getElementById('panes')?.focus();
  }, [isShown]);
  useEffect(() => {
    // After the tile that was asked for is there, and the dialog that asked for it has given the focus back.
    if (!wish || granted.current === wish || isAsking || !isShown) return;
    if (wish.on === 'tile' && !activePane) return;
    granted.current = wish;
    if (wish.on === 'tile') handles.current[layout.active]?.focus();
    else document.querySelector<HTMLElement>('.approvals button')?.focus();
  });

  if (known && owner && panes.length + approvals.length + adopted.length === 0)
    return (
      <main className="view whole terminals" data-shown={isShown}>
        <Teaching title="No panes yet" command="poly run -- top">
          A pane is a program on a terminal that the hub keeps: it runs on when this page is closed. Start one
          with “New pane” above, or in a terminal:
        </Teaching>
      </main>
    );
  return (
    <main
      className="view terminals"
      aria-label="Terminals"
      data-shown={isShown}
      data-shows={showsPane && activePane ? 'item' : 'list'}
    >
      <nav className="side" aria-label="Panes" data-moves={movement}>
        <Approvals hub={hub} approvals={approvals} movement={movement} live={live} now={now} />
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
        {listed.length === 0 && known && (
          <p className="empty dim">{panes.length > 0 ? 'No pane fits.' : emptyWords(owner)}</p>
        )}
        <AdoptedList hub={hub} agents={adopted} now={now} owner={owner} />
      </nav>
      <div className="tiles" data-count={layout.count}>
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
              screenReader={screenReader}
              letters={letters}
              onActivate={() => layout.activate(tile)}
              onLeave={focusList}
              onEnd={onEnd && (() => end(pane.id))}
              onClose={() => {
                layout.close(tile);
                focusList();
              }}
              onLink={props.onLink}
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
              Choose a pane from the list{owner ? ', or start one with c' : ''}.
            </button>
          ),
        )}
      </div>
    </main>
  );
}

const emptyWords = (owner: boolean): string => (owner ? 'No panes yet.' : 'No pane is shared with you yet.');

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
    const { label, reason = '' } = stateOf(pane);
    const text = [pane.id, pane.title, commandOf(pane), pane.status, label, reason].join(' ').toLowerCase();
    return words.every((word) => text.includes(word));
  });
}
