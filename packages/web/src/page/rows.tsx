import { type JSX, type ReactNode, useEffect, useState } from 'react';
import { useCommands } from './use-commands.ts';

interface RowsProps<Item> {
  readonly label: string;
  readonly items: readonly Item[];
  readonly idOf: (item: Item) => string;
  /** What is shown beside the list. */
  readonly open: string | undefined;
  readonly onOpen: (id: string) => void;
  /** Which row is meant, for keys that do something with it. */
  readonly onSelect?: (id: string | undefined) => void;
  /** Whether it has the focus as soon as it is there; it does when left out. */
  readonly takesFocus?: boolean;
  /** Neighbours with the same name here stand below one heading. */
  readonly groupOf?: (item: Item) => string;
  readonly heading?: (group: string) => ReactNode;
  readonly children: (item: Item) => ReactNode;
}

const rowId = (id: string): string => `row-${id}`;

/** A list that has the focus as a whole and is moved through by keys. */
export function Rows<Item>(props: RowsProps<Item>): JSX.Element {
  const { label, items, idOf, open, onOpen, onSelect, takesFocus = true, groupOf, heading, children } = props;
  const [chosen, setChosen] = useState(open);
  const ids = items.map(idOf);
  const selected = chosen !== undefined && ids.includes(chosen) ? chosen : ids[0];
  const move = (to: (place: number) => number): void => {
    const place = to(selected === undefined ? -1 : ids.indexOf(selected));
    setChosen(ids[Math.max(0, Math.min(ids.length - 1, place))]);
  };
  useCommands({
    next: () => move((place) => place + 1),
    previous: () => move((place) => place - 1),
    first: () => move(() => 0),
    last: () => move(() => ids.length - 1),
    open: () => selected !== undefined && onOpen(selected),
  });
  useEffect(() => {
    if (takesFocus) document.getElementById('rows')?.focus();
  }, [takesFocus]);
  useEffect(() => {
    onSelect?.(selected);
    if (selected !== undefined)
      document.getElementById(rowId(selected))?.scrollIntoView({ block: 'nearest' });
  }, [selected, onSelect]);
  const row = (item: Item): JSX.Element => {
    const id = idOf(item);
    return (
      // biome-ignore lint/a11y/useKeyWithClickEvents: the list as a whole has the focus and takes the keys.
      // biome-ignore lint/a11y/useFocusableInteractive: likewise; aria-activedescendant says which row is meant.
      <div
        key={id}
        id={rowId(id)}
        className="pane"
        role="option"
        aria-selected={id === selected}
        data-open={id === open}
        onClick={() => {
          setChosen(id);
          onOpen(id);
        }}
      >
        {children(item)}
      </div>
    );
  };
  return (
    <div
      id="rows"
      className="panes"
      role="listbox"
      aria-label={label}
      tabIndex={0}
      aria-activedescendant={selected === undefined ? undefined : rowId(selected)}
    >
      {groupOf
        ? [...Map.groupBy(items, groupOf)].map(([group, members]) => (
            // biome-ignore lint/a11y/useSemanticElements: options of a listbox are grouped by role.
            <div key={group} className="group" role="group" aria-labelledby={`group-${group}`}>
              <div id={`group-${group}`} className="group-heading" role="presentation">
                {heading?.(group)}
              </div>
              {members.map(row)}
            </div>
          ))
        : items.map(row)}
    </div>
  );
}
