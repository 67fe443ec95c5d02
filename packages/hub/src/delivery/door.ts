import type { AgentStatus } from '@polyphony/protocol';
import type { Hint } from './hint.ts';

/** An agent, as it is when a hint is offered. */
export interface Target {
  /** Its id among those who get mail. */
  readonly recipient: string;
  /** Its pane, told from another that has its id before or after; none where only its connection is known. */
  readonly pane: { readonly id: string; readonly birth: string } | undefined;
  readonly vendor: string;
  /** What it does, as far as anybody knows. */
  readonly status: AgentStatus;
  /** The words that told it. */
  readonly evidence: string;
  /** Its last turn was broken off by somebody, as far as its hooks tell. */
  readonly interrupted: boolean;
  /** Whether its hooks have told anything. */
  readonly hooked: boolean;
  /** Its conversation, where that is known. */
  readonly sessionId: string | undefined;
  readonly argv: readonly string[];
  readonly cwd: string;
  /** Its program. */
  readonly pid: number;
}

/** How far an offer got. What was refused was not written, and may be offered again, here or at another door. */
export type Offer =
  | { readonly state: 'refused'; readonly reason: string }
  | { readonly state: 'written'; readonly reason?: string }
  | { readonly state: 'seen'; readonly reason?: string }
  | { readonly state: 'uncertain'; readonly reason: string };

/** What has become of a hint that a door took. */
export type Look =
  | { readonly state: 'seen'; readonly reason: string }
  /** Nobody has taken it, and it was taken back: another door may be tried. */
  | { readonly state: 'back'; readonly reason: string }
  | { readonly state: 'waiting'; readonly reason?: string };

export interface Door {
  readonly name: string;
  /** The same hint may be offered twice and is taken once: after a crash it is offered again. */
  readonly repeatable: boolean;
  /** What goes through it looks like the words of whoever drives. */
  readonly asUser?: true;
  /** It goes along with a turn that runs, and begins none. */
  readonly quiet?: true;
  /**
   * Offers a hint. `begin` is awaited right before the first byte leaves: it writes down that this door is used, and
   * answers false when nobody wants the hint any more. It never throws for what an agent or its server does.
   */
  offer(target: Target, hint: Hint, begin: () => Promise<boolean>, chance: Chance): Promise<Offer>;
  /** Finds out what became of a hint that it took. */
  look?(target: Target, hint: Hint, why: LookWhy): Promise<Look>;
}

/** Which of its chances a hint has. */
interface Chance {
  /** If no door takes it now, none is tried again. */
  readonly isLast: boolean;
}

/** Why it is looked after a hint. */
export interface LookWhy {
  /** When a hook told something that it tells only when a model was asked since the time before. */
  readonly heardAt?: number;
  /** A time of the schedule has come: by now somebody should have taken it. */
  readonly due?: boolean;
}

export const refused = (reason: string): Offer => ({ state: 'refused', reason });
export const noPane = 'no_pane: it is in no pane of this hub';
export const uncertain = (reason: string): Offer => ({ state: 'uncertain', reason });
