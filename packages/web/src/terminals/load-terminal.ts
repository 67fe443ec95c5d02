import type { HubState } from '../page/hub-state.ts';
import type * as Loaded from './pane-terminal.ts';

const load = (): Promise<typeof Loaded> => import('./pane-terminal.ts');

/** What draws terminals, which is most of the page, and not needed to show the list. */
export async function loadTerminal(hub: HubState, onAway: () => void): Promise<typeof Loaded> {
  try {
    return await load();
  } catch {
    onAway();
    await hub.isBack();
    // Chromium 156 remembers that it could not load it: then the page as a whole is loaded anew, and keeps its tiles.
    return load().catch(() => {
      location.reload();
      return Promise.withResolvers<never>().promise;
    });
  }
}

/** So that it is here when somebody opens a tile; who does so before that hears of trouble. */
export function loadTerminalSoon(): void {
  load().catch(() => undefined);
}
