import { useLayoutEffect, useRef, useState } from 'react';

/** A click that comes so soon after things have moved was meant for what stood there before. */
export const steadyAfterMs = 600;

export type Movement = 'grown' | 'shrunk' | undefined;

/** How a list that others stand below has just changed; nothing once it has stood still for long enough to be clicked at. */
export function useMovement(ids: readonly string[]): Movement {
  const [movement, setMovement] = useState<Movement>();
  const before = useRef<readonly string[]>([]);
  const key = ids.join(' ');
  // biome-ignore lint/correctness/useExhaustiveDependencies: the list is made anew with every look; its ids tell.
  useLayoutEffect(() => {
    const isSame = key === before.current.join(' ');
    const hasNew = ids.some((id) => !before.current.includes(id));
    before.current = ids;
    if (isSame) return;
    setMovement(hasNew ? 'grown' : 'shrunk');
    const timer = setTimeout(() => setMovement(undefined), steadyAfterMs);
    return () => clearTimeout(timer);
  }, [key]);
  return movement;
}
