import type { Engine, Operation, PaneRow } from '@polyphony/tmux';
import type { ToolContext } from '../tool.ts';
import type { CallerPlace, ServerPlace } from './caller-place.ts';
import type { DrivenPanes } from './driven-panes.ts';
import type { Seat } from './servers.ts';

/** What a tool works with. */
export interface Use {
  readonly seat: Seat;
  /** The engine beneath, which refuses nothing: to look with. */
  readonly bare: Engine;
  readonly driven: DrivenPanes;
  /** Nobody else drove on this server when the call began. */
  readonly isAlone: boolean;
  readonly tmux: Seat['tmux'];
  readonly caller: CallerPlace | undefined;
  readonly context: ToolContext;
  /** Runs one operation; what tmux refuses is an error. */
  run<P, V>(operation: Operation<P, V>): Promise<V>;
  /** The same for what only looks, of words that are our own. */
  ask<P, V>(operation: Operation<P, V>): Promise<V>;
  look(): Promise<Look>;
  /** Writes down that a tool is about to change something. */
  audit(tool: string): void;
}

/** A server at one moment. */
export interface Look extends ServerPlace {
  readonly panes: readonly PaneRow[];
  /** Whether a pane is the one the caller runs in, as far as that is certain. */
  isCaller(paneId: string): boolean;
}
