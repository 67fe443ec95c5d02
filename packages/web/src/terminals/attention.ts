import { useEffect, useState } from 'react';
import type { HubState } from '../page/hub-state.ts';

/** Tells the hub which panes somebody has before them: those in a tile, while this window has the focus. */
export function useAttention(hub: HubState, open: readonly string[]): void {
  const [here, setHere] = useState(() => document.hasFocus());
  useEffect(() => {
    const look = (): void => setHere(document.hasFocus() && document.visibilityState === 'visible');
    const signs = ['focus', 'blur', 'visibilitychange'];
    for (const sign of signs) addEventListener(sign, look, true);
    return () => {
      for (const sign of signs) removeEventListener(sign, look, true);
    };
  }, []);
  const before = here ? open.join(' ') : '';
  useEffect(() => hub.socket.look(before.split(' ').filter(Boolean)), [hub, before]);
  useEffect(() => () => hub.socket.look([]), [hub]);
}
