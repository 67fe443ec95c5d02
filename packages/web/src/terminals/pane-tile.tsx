import type { ErrorInfo, PaneInfo } from '@polyphony/protocol';
import { type JSX, type Ref, useEffect, useImperativeHandle, useRef, useState } from 'react';
import { harmless } from '../page/harmless.ts';
import type { HubState } from '../page/hub-state.ts';
import { useOneAtATime } from '../page/one-at-a-time.ts';
import { commandOf, nameOf, stateOf } from '../page/pane-state.ts';
import type { Scheme } from '../page/terminal-themes.ts';
import { awayError } from './away-error.ts';
import { loadTerminal } from './load-terminal.ts';
import type { PaneTerminal, PaneView } from './pane-terminal.ts';
import { SearchPanel } from './search-panel.tsx';

/** What the page can do with a tile from outside. */
export interface TileHandle {
  focus(): void;
  search(): void;
  fit(): void;
  follow(): void;
  changeLetters(by: number): void;
  sizeHere(): { readonly cols: number; readonly rows: number } | undefined;
}

interface PaneTileProps {
  readonly hub: HubState;
  readonly pane: PaneInfo;
  readonly active: boolean;
  readonly scheme: Scheme;
  readonly screenReader: boolean;
  /** The size of letters, if one was chosen. */
  readonly letters: number | undefined;
  readonly ref: Ref<TileHandle>;
  readonly onActivate: () => void;
  /** Back to the list. */
  readonly onLeave: () => void;
  /** Left out where nobody here may end it. */
  readonly onEnd: (() => void) | undefined;
  readonly onClose: () => void;
  readonly onLink: (address: string) => void;
  readonly onLetters: (letters: number) => void;
}

/** Keys that a keyboard on a phone lacks. */
const touchKeys = [
  ['Esc', '\x1b'],
  ['Tab', '\t'],
  ['Ctrl-C', '\x03'],
  ['Ctrl-D', '\x04'],
] as const;
const arrows = [
  ['Left', '←', 'D'],
  ['Up', '↑', 'A'],
  ['Down', '↓', 'B'],
  ['Right', '→', 'C'],
] as const;

const noClipboard: ErrorInfo = {
  code: 'forbidden',
  message: 'The browser keeps its clipboard from this page.',
  hint: 'Allow it for this address; Ctrl-Shift-V, or the menu of the browser, pastes all the same.',
};

/** One pane, live. */
export function PaneTile(props: PaneTileProps): JSX.Element {
  const { hub, pane, active, scheme, screenReader, letters, ref } = props;
  const { onActivate, onLeave, onEnd, onClose, onLink, onLetters } = props;
  const box = useRef<HTMLDivElement>(null);
  const terminal = useRef<PaneTerminal>(undefined);
  const [view, setView] = useState<PaneView>();
  /** What would show it cannot be had. */
  const [isAway, setAway] = useState(false);
  const [searching, setSearching] = useState(false);
  const fitting = useOneAtATime();
  const { label, tone, reason } = stateOf(pane);
  const { name, title } = nameOf(pane);
  const error = isAway ? awayError : view?.error;

  const fit = (): void => {
    const size = terminal.current?.sizeHere();
    if (!size) return;
    void fitting.run(() => hub.attempt(hub.client.call('pane:resize', { paneId: pane.id, ...size })));
  };
  const focus = (): void => {
    // Until there is a terminal the box has the focus, so that nobody is called back who has gone on meanwhile.
    if (terminal.current) terminal.current.focus();
    else box.current?.focus();
  };
  const changeLetters = (by: number): void => {
    if (terminal.current) onLetters(Math.round(terminal.current.letters) + by);
  };
  const closeSearch = (): void => {
    setSearching(false);
    terminal.current?.unmark();
    focus();
  };
  const withClipboard = async (work: Promise<unknown>): Promise<void> => {
    await work.catch(() => hub.report(noClipboard));
    focus();
  };
  const copy = (): void => {
    const text = terminal.current?.selection;
    // Nothing that is selected leaves alone what was copied before.
    if (text) void withClipboard(navigator.clipboard.writeText(text));
  };
  const paste = (): void => {
    void withClipboard(navigator.clipboard.readText().then((text) => terminal.current?.paste(text)));
  };
  useImperativeHandle(ref, () => ({
    focus,
    search: () => setSearching(true),
    fit,
    follow: () => terminal.current?.follow(),
    changeLetters,
    sizeHere: () => terminal.current?.sizeHere(),
  }));

  const keys: Keys = {
    l: onLeave,
    f: () => setSearching(true),
    home: () => terminal.current?.goBack(),
    end: () => terminal.current?.follow(),
    c: copy,
  };
  /** For the terminal, which outlives many renderings. */
  const latest = useRef({ keys, scheme, screenReader, letters, onLink });
  latest.current = { keys, scheme, screenReader, letters, onLink };

  useEffect(() => {
    let closed = false;
    void loadTerminal(hub, () => setAway(true)).then(({ PaneTerminal }) => {
      if (closed || !box.current) return;
      setAway(false);
      terminal.current = new PaneTerminal({
        hub,
        paneId: pane.id,
        box: box.current,
        scheme: latest.current.scheme,
        letters: latest.current.letters,
        onView: setView,
        onLink: (address) => latest.current.onLink(address),
        onKey: (event) => takeKey(event, latest.current.keys),
      });
      terminal.current.setScreenReader(latest.current.screenReader);
    });
    return () => {
      closed = true;
      terminal.current?.close();
      terminal.current = undefined;
    };
  }, [hub, pane.id]);
  useEffect(() => terminal.current?.setScheme(scheme), [scheme]);
  useEffect(() => terminal.current?.setScreenReader(screenReader), [screenReader]);
  useEffect(() => terminal.current?.setLetters(letters), [letters]);

  return (
    <section
      className="tile"
      aria-label={['Pane', name, title].filter(Boolean).join(' ')}
      data-active={active}
      data-live={view?.live ?? false}
      onFocus={onActivate}
    >
      <header>
        <button type="button" className="back" aria-label="Back to the list" onClick={onLeave}>
          ‹
        </button>
        <span className={`dot ${tone}`} title={label} />
        <h2 title={commandOf(pane)}>
          <bdi>{name}</bdi>
        </h2>
        {reason !== undefined && <bdi className={`state ${tone} about`}>{reason}</bdi>}
        {title !== undefined && <bdi className="dim about">{title}</bdi>}
        {name !== pane.id && reason === undefined && <span className="dim mono about id">{pane.id}</span>}
        {reason === undefined && (
          <span className="dim mono about size">{view && `${view.cols}×${view.rows}`}</span>
        )}
        <div className="tools">
          <button
            type="button"
            aria-label="A−: smaller letters"
            title="Smaller letters (-)"
            onClick={() => changeLetters(-1)}
          >
            A−
          </button>
          <button
            type="button"
            aria-label="A+: larger letters"
            title="Larger letters (+)"
            onClick={() => changeLetters(1)}
          >
            A+
          </button>
          <button type="button" title="Search the output (Ctrl-Shift-F)" onClick={() => setSearching(true)}>
            Search
          </button>
          <button type="button" title="Give the pane the size of this tile, for everybody" onClick={fit}>
            Fit
          </button>
          <button type="button" title="Paste (Ctrl-Shift-V)" onClick={paste}>
            Paste
          </button>
          {onEnd && (
            <button type="button" title="End the pane (asks first)" onClick={onEnd}>
              {pane.status === 'running' ? 'End' : 'Forget'}
            </button>
          )}
          <button
            type="button"
            aria-label="Close this tile"
            title="Close this tile; the pane goes on"
            onClick={onClose}
          >
            ×
          </button>
        </div>
      </header>
      {searching && (
        <SearchPanel
          hub={hub}
          paneId={pane.id}
          onGo={async ({ n, text }) => (await terminal.current?.goTo(n, text)) ?? false}
          onClose={closeSearch}
        />
      )}
      <div className="terminal">
        {/* biome-ignore lint/a11y/noStaticElementInteractions: a click beside the text means the terminal, too. */}
        <div
          ref={box}
          className="box"
          tabIndex={-1}
          onClick={focus}
          onKeyDown={(event) => event.target === event.currentTarget && takeKey(event.nativeEvent, keys)}
        />
        {view?.loading && <p className="note">Fetching what is kept…</p>}
        {error && <p className="note bad">{harmless(error.message)}</p>}
        {view !== undefined && view.behind > 0 && !view.loading && (
          <button type="button" className="note" onClick={() => terminal.current?.follow()}>
            ↓ {view.behind.toLocaleString('en')} newer lines
          </button>
        )}
        {pane.status === 'exited' && <p className="ended">{label}</p>}
      </div>
      <div className="touch-keys" role="toolbar" aria-label="Keys">
        {touchKeys.map(([name, data]) => (
          <button key={name} type="button" onClick={() => terminal.current?.type(data)}>
            {name}
          </button>
        ))}
        {arrows.map(([name, sign, final]) => (
          <button key={name} type="button" aria-label={name} onClick={() => terminal.current?.arrow(final)}>
            {sign}
          </button>
        ))}
      </div>
    </section>
  );
}

type Keys = Readonly<Record<string, () => void>>;

/** Does what a key stands for, and answers whether it is ours and not the program's. */
function takeKey(event: KeyboardEvent, keys: Keys): boolean {
  if (!event.ctrlKey || !event.shiftKey || event.altKey || event.metaKey) return false;
  if (event.key.toLowerCase() === 'v') return true; // Left to the browser, which pastes.
  const take = keys[event.key.toLowerCase()];
  if (!take) return false;
  event.preventDefault();
  take();
  return true;
}
