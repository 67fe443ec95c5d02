import { PolyError, sessionStart, sessionStatus, sessionStop } from '@polyphony/protocol';
import type { Registry } from '../registry/registry.ts';
import type { Panes } from './panes.ts';
import type { TmuxSession } from './tmux-session.ts';

/** The tmux session that holds tmux panes. */
export function registerSessionActions(registry: Registry, session: TmuxSession, panes: Panes): void {
  registry.register('session', sessionStart, async () => {
    await panes.startSession();
    return session.info();
  });
  registry.register('session', sessionStop, async () => {
    if (!(await session.running())) {
      throw new PolyError('conflict', 'the tmux session is not running.', {
        hint: 'Start it with poly session start.',
      });
    }
    await panes.closeTmuxPanes();
    await session.stop();
    await panes.watch.look();
    return {};
  });
  registry.register('session', sessionStatus, () => session.info());
}
