import { type Door, type Offer, refused, type Target } from '../door.ts';
import type { Guard } from '../guard.ts';
import type { Hint } from '../hint.ts';

/** Types at an agent what `agent:message` would, with a word before each write. */
export type TypeAt = (
  target: Target,
  text: string,
  /** Why nothing may be typed now; asked before the first byte and again before Enter. */
  check: (step: 'text' | 'enter') => Promise<string | undefined>,
) => Promise<{ readonly state: 'written' | 'failed' | 'uncertain'; readonly reason: string }>;

/** The last door of every agent: a line typed through the input gate, at a composer that is seen to be empty. */
export function createKeyboardDoor(guard: Guard, typeAt: TypeAt): Door {
  return {
    name: 'keyboard',
    repeatable: false,
    asUser: true,
    async offer(target: Target, hint: Hint, begin): Promise<Offer> {
      const verdict = await guard(target);
      if ('obstacle' in verdict) return refused(verdict.obstacle);
      let begun = false;
      const typed = await typeAt(target, hint.text, async (step) => {
        const changed = verdict.recheck();
        if (changed || step === 'enter') return changed;
        begun = await begin();
        return begun ? undefined : 'nobody wants it any more';
      });
      if (typed.state === 'written') return { state: 'written', reason: typed.reason };
      return begun ? { state: 'uncertain', reason: typed.reason } : refused(typed.reason);
    },
  };
}
