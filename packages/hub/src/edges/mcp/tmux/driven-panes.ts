import type { Caller } from '../../../registry/caller.ts';

/** Which panes of tmux servers belong to sessions of the floor, and who may type there. */
export interface DrivenPanes {
  /** Those of a server, by the id that tmux has for them, into which somebody may not type now. */
  notFor(caller: Caller, socket: string): Promise<ReadonlySet<string>>;
  /** Throws where another drives; a driver who types is there. */
  mayType(caller: Caller, socket: string, pane: string): Promise<void>;
}
