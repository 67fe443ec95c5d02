import { type Door, noPane, refused, type Target } from '../door.ts';
import type { Hint } from '../hint.ts';

/** The folder from which delivery hooks tell an agent what has come. */
export interface HintInbox {
  /** Somebody waits there now, and begins a turn when something comes. */
  isAwaited(): boolean;
  put(name: string, text: string): void;
  /** Where it is, and since when: still to be taken, taken, taken to wake, or seen by a turn as whoever took it tells. */
  find(name: string): { readonly in: 'new' | 'taken' | 'woken' | 'seen'; readonly at: number } | undefined;
  /** Takes it away before a hook does; false when one was faster. */
  takeBack(name: string): boolean;
  /** Forgets what was taken up to this one. */
  forget(name: string): void;
}

/** What wakes nobody is named so that a hook that waits passes it over. */
const nameOf = ({ upTo, quiet }: Hint): string =>
  `mail-${String(upTo).padStart(15, '0')}${quiet ? '.later' : ''}`;

interface Opening {
  readonly name: string;
  /** Whoever is there takes it at once, so that what is not taken after a while never will be. */
  readonly isPrompt: boolean;
  /** Why it is shut for an agent now; nothing when it is open. */
  readonly shut: (target: Target, inbox: HintInbox, hint: Hint) => string | undefined;
}

/** A hook waits for the inbox and begins a turn: also beside a draft, at a question, or in the middle of another turn. */
export const wakeDoor: Opening = {
  name: 'wake hook',
  isPrompt: true,
  shut: (_, inbox) => (inbox.isAwaited() ? undefined : 'no hook of it waits for mail (poly hooks install)'),
};

/**
 * The hooks of a turn that runs bring it along with the next tool's result; what is whole also waits for the prompt of
 * the next turn, where no other door is open.
 */
export const contextDoor: Opening = {
  name: 'hook context',
  isPrompt: false,
  shut: ({ status, evidence, sessionId, hooked }, _, { whole }) => {
    const areThere = hooked || (!whole && sessionId !== undefined);
    if (!areThere) return 'none of its hooks has told anything (poly hooks install)';
    return status === 'running' || whole
      ? undefined
      : `no turn runs that a hook could tell it to: it is ${status} (${evidence})`;
  },
};

/** Puts the hint where hooks find it. A name is put once, and moved by whoever takes it: so it is told once. */
export function createInboxDoor(opening: Opening, inboxOf: (pane: string) => HintInbox): Door {
  return {
    name: opening.name,
    repeatable: true,
    ...(!opening.isPrompt && { quiet: true as const }),
    async offer(target, hint, begin) {
      if (!target.pane) return refused(noPane);
      const inbox = inboxOf(target.pane.id);
      const known = inbox.find(nameOf(hint)) !== undefined;
      const shut = known ? undefined : opening.shut(target, inbox, hint);
      if (shut) return refused(shut);
      if (!known) {
        if (!(await begin())) return refused('nobody wants it any more');
        inbox.put(nameOf(hint), hint.text);
      }
      return { state: 'written', reason: 'it lies where its hooks look' };
    },
    async look(target, hint, { heardAt = 0, due = false }) {
      if (!target.pane) return { state: 'waiting' };
      const inbox = inboxOf(target.pane.id);
      const name = nameOf(hint);
      const found = inbox.find(name);
      if (!found) return { state: 'waiting' };
      const isSeen = found.in === 'seen' || (found.in === 'taken' && heardAt > found.at);
      if (isSeen) {
        inbox.forget(name);
        const how =
          found.in === 'seen' ? 'its plugin saw a turn with it' : 'a hook took it, and its turn went on';
        return { state: 'seen', reason: how };
      }
      if (found.in === 'taken') return { state: 'waiting', reason: 'a hook took it' };
      // A model may have been asked before that: what comes next proves nothing, and its prompt will be told.
      if (found.in === 'woken') return { state: 'waiting', reason: 'a hook woke it with it' };
      const shut =
        opening.shut(target, inbox, hint) ?? (due && opening.isPrompt ? 'nobody took it in time' : undefined);
      if (!shut || !inbox.takeBack(name)) return { state: 'waiting', reason: 'no hook has taken it yet' };
      return { state: 'back', reason: `the ${opening.name} did not tell it: ${shut}` };
    },
  };
}
