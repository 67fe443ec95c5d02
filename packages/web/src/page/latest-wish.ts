import { useRef } from 'react';
import type { HubState } from './hub-state.ts';

/** Asks for something, and shows it with what the work answers. */
export type Ask = (wish: object, work: () => Promise<() => void>) => Promise<void>;

/** For what is looked up: nothing is asked for twice at once, and an answer to an older wish comes too late to be shown. */
export function useLatestWish(hub: HubState): Ask {
  const latest = useRef<string>(undefined);
  return async (wish, work) => {
    const wanted = JSON.stringify(wish);
    if (latest.current === wanted) return;
    latest.current = wanted;
    await hub.attempt(work().then((show) => latest.current === wanted && show()));
    if (latest.current === wanted) latest.current = undefined;
  };
}
