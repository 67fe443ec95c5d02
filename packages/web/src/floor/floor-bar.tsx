import type { JSX, ReactNode } from 'react';
import { addressOf } from '../page/place.ts';

const tabs: readonly (readonly [item: string | undefined, label: string])[] = [
  [undefined, 'Sessions'],
  ['search', 'Search'],
  ['decisions', 'Decisions'],
  ['people', 'People and agents'],
];

/** What stands above every list of the floor. */
export function FloorBar({
  tab,
  children,
}: {
  readonly tab: string | undefined;
  readonly children?: ReactNode;
}): JSX.Element {
  return (
    <div className="floor-bar">
      <nav className="tabs" aria-label="Floor">
        {tabs.map(([item, label]) => (
          <a
            key={label}
            href={addressOf({ view: 'floor', item })}
            aria-current={item === tab ? 'page' : undefined}
          >
            {label}
          </a>
        ))}
      </nav>
      {children}
    </div>
  );
}
