import { type Action, PolyError } from '@polyphony/protocol';
import type { Draft } from '../events/event-log.ts';
import type { Log } from '../platform/log.ts';
import type { Committed, Statement } from '../store/store.ts';
import type { Asker } from './ask.ts';

/** What an action changes, what is told of it, and what it answers. */
export interface Step {
  readonly statements?: readonly Statement[];
  readonly drafts?: readonly Draft[];
  readonly result: unknown;
  /** What a repeat is answered, where that is not the same. */
  readonly kept?: unknown;
}

/** Writes a step; of an action in one step together with the note that it was done. */
export type Commit = (step: Step) => Promise<Committed>;

interface ActionContext extends Asker {
  readonly log: Log;
  readonly commit: Commit;
}

export type Execute<Params, Result> = (params: Params, context: ActionContext) => Result | Promise<Result>;

export interface Registered {
  readonly action: Action;
  readonly execute: Execute<unknown, unknown>;
  /** The noun or extension it belongs to. */
  readonly owner: string;
}

/** Every action by name. It knows no noun: built-in ones register with the same call an extension has. */
export class Registry {
  readonly #actions = new Map<string, Registered>();

  register<Params, Result>(
    owner: string,
    action: Action<Params, Result>,
    execute: Execute<Params, Result>,
  ): void {
    const taken = this.#actions.get(action.name);
    if (taken) {
      throw new PolyError(
        'conflict',
        `${owner} cannot register ${action.name}: ${taken.owner} has registered it.`,
      );
    }
    this.#actions.set(action.name, {
      action: action as Action,
      execute: execute as Execute<unknown, unknown>,
      owner,
    });
  }

  unregister(owner: string): void {
    for (const [name, registered] of this.#actions)
      if (registered.owner === owner) this.#actions.delete(name);
  }

  get(name: string): Registered {
    const registered = this.#actions.get(name);
    if (registered) return registered;
    const noun = `${name.split(':', 1)[0]}:`;
    const near = [...this.#actions.keys()].filter((known) => known.startsWith(noun));
    throw new PolyError('unknown_action', `there is no action "${name.slice(0, 128)}".`, {
      hint: near.length > 0 ? `Did you mean one of ${near.join(', ')}?` : 'poly list shows every action.',
    });
  }

  list(): readonly Registered[] {
    return [...this.#actions.values()].sort((a, b) => (a.action.name < b.action.name ? -1 : 1));
  }
}
