import { PolyError } from '@polyphony/protocol';
import { useEffect, useRef, useState } from 'react';
import type { HubState, Noun } from './hub-state.ts';

/** What the hub answers: read anew when something else is wished for, when one of these nouns tells of something, and when the hub is back. */
export function useLive<T>(
  hub: HubState,
  nouns: readonly Noun[],
  wish: unknown,
  read: () => Promise<T>,
): T | undefined {
  const [value, setValue] = useState<T>();
  const latest = useRef(read);
  latest.current = read;
  const key = JSON.stringify([nouns, wish]);
  useEffect(() => {
    const [wanted] = JSON.parse(key) as [readonly Noun[]];
    let closed = false;
    let stale = false;
    let reading = false;
    const look = async (): Promise<void> => {
      stale = true;
      if (reading) return;
      reading = true;
      try {
        while (stale && !closed) {
          stale = false;
          const answer = await latest.current();
          if (!closed) setValue(answer);
        }
      } catch (error) {
        // Where the hub is away, what was read last stays until it is back.
        if (!closed && error instanceof PolyError) hub.report(error.info);
      } finally {
        reading = false;
      }
    };
    void look();
    const stop = hub.onNews(wanted, () => void look());
    return () => {
      closed = true;
      stop();
    };
  }, [hub, key]);
  return value;
}
