import type { PaneInfo } from '@polyphony/protocol';
import { type JSX, useEffect, useRef } from 'react';
import { ageOf, commandOf, nameOf, stateOf } from '../page/pane-state.ts';

interface PaneListProps {
  readonly panes: readonly PaneInfo[];
  readonly now: number;
  readonly selected: string | undefined;
  /** The panes that are open in a tile. */
  readonly open: ReadonlySet<string>;
  readonly onSelect: (paneId: string) => void;
  readonly onOpen: (paneId: string) => void;
}

const rowId = (paneId: string): string => `pane-${paneId}`;

/** Every pane: how it is, what it runs, how old it is and how much it has printed. */
export function PaneList({ panes, now, selected, open, onSelect, onOpen }: PaneListProps): JSX.Element {
  const list = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (selected !== undefined)
      document.getElementById(rowId(selected))?.scrollIntoView({ block: 'nearest' });
  }, [selected]);
  return (
    <div
      ref={list}
      id="panes"
      className="panes"
      role="listbox"
      aria-label="Panes"
      tabIndex={0}
      aria-activedescendant={selected === undefined ? undefined : rowId(selected)}
    >
      {panes.map((pane) => {
        const { label, tone, reason, since } = stateOf(pane);
        const command = commandOf(pane);
        const { name, title } = nameOf(pane);
        const count = pane.lines;
        return (
          // biome-ignore lint/a11y/useKeyWithClickEvents: the list as a whole has the focus and takes the keys.
          // biome-ignore lint/a11y/useFocusableInteractive: likewise; aria-activedescendant says which row is meant.
          <div
            key={pane.id}
            id={rowId(pane.id)}
            className="pane"
            role="option"
            aria-selected={pane.id === selected}
            data-open={open.has(pane.id)}
            onClick={() => {
              onSelect(pane.id);
              onOpen(pane.id);
            }}
          >
            <span className={`dot ${tone}`} title={label} aria-hidden="true" />
            <span className="title">
              <bdi>{name}</bdi>
              {title !== undefined && (
                <>
                  {' '}
                  <bdi className="dim">{title}</bdi>
                </>
              )}
            </span>
            <span className="age" title={new Date(pane.createdAt).toLocaleString()}>
              {ageOf(pane.createdAt, now)}
            </span>
            {command !== name && <span className="command mono">{command}</span>}
            {reason !== undefined && <bdi className="reason">{reason}</bdi>}
            <span className="facts">
              <span className={`state ${tone}`}>
                {label}
                {since !== undefined && ` ${ageOf(since, now)}`}
              </span>
              {pane.id !== name && <span className="mono">{pane.id}</span>}
              <span>{pane.backend}</span>
              {count !== undefined && (
                <span>{count === 1 ? '1 line' : `${count.toLocaleString('en')} lines`}</span>
              )}
            </span>
          </div>
        );
      })}
    </div>
  );
}
