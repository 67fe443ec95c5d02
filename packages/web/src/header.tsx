import { type JSX, useEffect, useRef } from 'react';
import type { Connection } from './page/hub-state.ts';
import { addressOf, type View, views } from './page/place.ts';
import { type TileCount, tileCounts } from './terminals/layout.ts';

interface HeaderProps {
  readonly view: View;
  readonly connection: Connection;
  readonly waiting: number;
  /** How many agents need somebody. */
  readonly needing: number;
  /** How many messages are new to the user. */
  readonly unread: number;
  readonly count: TileCount;
  readonly theme: string;
  readonly onCount: (count: TileCount) => void;
  /** Left out where nobody here may start one. */
  readonly onNew: (() => void) | undefined;
  readonly onTheme: () => void;
  readonly onHelp: () => void;
  readonly onApprovals: () => void;
  readonly onNeeded: () => void;
}

const connections: Readonly<Record<Connection, string>> = {
  connecting: 'connecting',
  live: 'connected',
  lost: 'hub away, trying again',
  refused: 'not let in',
};
const signs: Readonly<Record<string, string>> = { system: '◐', dark: '●', light: '○' };

const links: Readonly<Record<View, readonly [label: string, key: string]>> = {
  terminals: ['Terminals', 'p'],
  floor: ['Floor', 'o'],
  agents: ['Agents', 'w'],
  mail: ['Mail', 'm'],
  tasks: ['Tasks', 'b'],
  contracts: ['Contracts', 'v'],
};

export function Header(props: HeaderProps): JSX.Element {
  const {
    view,
    connection,
    waiting,
    needing,
    unread,
    count,
    theme,
    onCount,
    onNew,
    onTheme,
    onHelp,
    onApprovals,
    onNeeded,
  } = props;
  const counts: Readonly<Partial<Record<View, readonly [count: number, of: string]>>> = {
    agents: [needing, 'need you'],
    mail: [unread, 'new'],
  };
  const here = useRef<HTMLAnchorElement>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: which link it is changes with the view.
  useEffect(() => {
    // Not all of them may fit on a phone.
    here.current?.scrollIntoView({ block: 'nearest', inline: 'nearest' });
  }, [view]);
  return (
    <header className="bar">
      <h1>Polyphony</h1>
      <span className="connection" role="status" data-state={connection}>
        {connections[connection]}
      </span>
      <nav className="views" aria-label="Views">
        {views.map((one) => {
          const [label, key] = links[one];
          const [number = 0, of] = counts[one] ?? [];
          return (
            <a
              key={one}
              ref={one === view ? here : undefined}
              href={addressOf({ view: one })}
              title={`${label} (${key})`}
              aria-current={one === view ? 'page' : undefined}
            >
              {label}
              {number > 0 && (
                <>
                  {' '}
                  <span className="badge" role="img" aria-label={`${number} ${of}`}>
                    {number}
                  </span>
                </>
              )}
            </a>
          );
        })}
      </nav>
      <span className="space" />
      {waiting > 0 && (
        <button type="button" className="waiting" onClick={onApprovals}>
          {waiting} to approve
        </button>
      )}
      {needing > 0 && (
        <button
          type="button"
          className="waiting"
          title="The next agent that needs you (n)"
          onClick={onNeeded}
        >
          {needing} <span className="long">{needing === 1 ? 'agent' : 'agents'} </span>
          {needing === 1 ? 'needs you' : 'need you'}
        </button>
      )}
      {view === 'terminals' && (
        <fieldset className="count" aria-label="Tiles">
          {tileCounts.map((wanted) => (
            <button
              key={wanted}
              type="button"
              aria-pressed={wanted === count}
              aria-label={wanted === 1 ? '1 tile' : `${wanted} tiles`}
              title={`${wanted === 1 ? '1 tile' : `${wanted} tiles`} (${wanted})`}
              onClick={() => onCount(wanted)}
            >
              {wanted}
            </button>
          ))}
        </fieldset>
      )}
      {view === 'terminals' && onNew && (
        <button type="button" className="primary" aria-label="New pane" title="New pane (c)" onClick={onNew}>
          New<span className="long"> pane</span>
        </button>
      )}
      <button type="button" aria-label={`Theme: ${theme}`} title={`Theme: ${theme} (t)`} onClick={onTheme}>
        {signs[theme] ?? '◐'}
      </button>
      <button type="button" aria-label="Help" title="Keys (?)" onClick={onHelp}>
        ?
      </button>
    </header>
  );
}
