import type { JSX } from 'react';
import type { Connection } from './hub-state.ts';
import { type TileCount, tileCounts } from './layout.ts';

interface HeaderProps {
  readonly connection: Connection;
  readonly waiting: number;
  /** How many agents need somebody. */
  readonly needing: number;
  readonly count: TileCount;
  readonly theme: string;
  readonly onCount: (count: TileCount) => void;
  readonly onNew: () => void;
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

export function Header(props: HeaderProps): JSX.Element {
  const {
    connection,
    waiting,
    needing,
    count,
    theme,
    onCount,
    onNew,
    onTheme,
    onHelp,
    onApprovals,
    onNeeded,
  } = props;
  return (
    <header className="bar">
      <h1>Polyphony</h1>
      <span className="connection" role="status" data-state={connection}>
        {connections[connection]}
      </span>
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
          {needing === 1 ? '1 agent needs you' : `${needing} agents need you`}
        </button>
      )}
      <fieldset className="count" aria-label="Tiles">
        {tileCounts.map((wanted) => (
          <button
            key={wanted}
            type="button"
            aria-pressed={wanted === count}
            aria-label={wanted === 1 ? 'One tile' : `${wanted} tiles`}
            title={`${wanted === 1 ? 'One tile' : `${wanted} tiles`} (${wanted})`}
            onClick={() => onCount(wanted)}
          >
            {wanted}
          </button>
        ))}
      </fieldset>
      <button type="button" className="primary" title="New pane (c)" onClick={onNew}>
        New pane
      </button>
      <button type="button" aria-label={`Theme: ${theme}`} title={`Theme: ${theme} (t)`} onClick={onTheme}>
        {signs[theme] ?? '◐'}
      </button>
      <button type="button" aria-label="Help" title="Keys (?)" onClick={onHelp}>
        ?
      </button>
    </header>
  );
}
