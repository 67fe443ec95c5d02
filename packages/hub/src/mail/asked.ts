import type { Connection } from '../registry/ask.ts';
import type { Caller } from '../registry/caller.ts';
import type { Step } from '../registry/registry.ts';

/** A call as far as identity needs it. */
export interface Asked {
  readonly caller: Caller;
  readonly connection?: Connection | undefined;
  commit(step: Step): Promise<unknown>;
}
