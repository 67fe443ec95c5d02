import { useEffect, useState } from 'react';

/** What the page can show, in the order of the bar. */
export const views = ['terminals', 'floor', 'agents', 'mail', 'tasks', 'contracts'] as const;
export type View = (typeof views)[number];

/** What is shown: a view, and what is open in it. */
export interface Place {
  readonly view: View;
  readonly item?: string | undefined;
}

/** A place as it stands behind the # of the address, so that a reload and the way back lead to it. */
export function addressOf({ view, item }: Place): string {
  if (view === 'terminals') return '#/';
  return item === undefined ? `#/${view}` : `#/${view}/${encodeURIComponent(item)}`;
}

export function placeOf(address: string): Place {
  const [, name, item] = /^#\/([a-z]+)(?:\/([^/]+))?$/.exec(address) ?? [];
  const view = views.find((one) => one === name) ?? 'terminals';
  return item === undefined ? { view } : { view, item: decoded(item) };
}

function decoded(item: string): string | undefined {
  try {
    return decodeURIComponent(item);
  } catch {
    return undefined; // Typed by somebody: the view itself is shown.
  }
}

/** Where the page is, and how to get elsewhere; each step is one of the browser's history. */
export function usePlace(): readonly [Place, (place: Place) => void] {
  const [address, setAddress] = useState(() => location.hash);
  useEffect(() => {
    const look = (): void => {
      // A further ticket in a tab that is open already: taken as the first one was.
      if (location.hash.startsWith('#ticket=')) location.reload();
      else setAddress(location.hash);
    };
    addEventListener('hashchange', look);
    return () => removeEventListener('hashchange', look);
  }, []);
  return [
    placeOf(address),
    (place) => {
      // One who is there need not go.
      if (addressOf(place) !== addressOf(placeOf(location.hash))) location.hash = addressOf(place);
    },
  ];
}
