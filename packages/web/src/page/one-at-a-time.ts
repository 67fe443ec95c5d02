import { useRef, useState } from 'react';

export interface OneAtATime {
  /** Something is under way. */
  readonly busy: boolean;
  /** Does something unless something is under way: who presses twice means it once. */
  readonly run: (work: () => Promise<unknown>) => Promise<void>;
}

/** For buttons that ask the hub to do something, which takes a while. */
export function useOneAtATime(): OneAtATime {
  const [busy, setBusy] = useState(false);
  // A second press may come before a button is drawn as one that cannot be pressed.
  const working = useRef(false);
  const set = (now: boolean): void => {
    working.current = now;
    setBusy(now);
  };
  const run = async (work: () => Promise<unknown>): Promise<void> => {
    if (working.current) return;
    set(true);
    try {
      await work();
    } finally {
      set(false);
    }
  };
  return { busy, run };
}
