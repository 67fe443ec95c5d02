import { type Approval, PolyError } from '@polyphony/protocol';
import type { Caller } from './caller.ts';

/** What only the user can decide. */
export interface Question
  extends Pick<
    Approval,
    'kind' | 'action' | 'paneId' | 'command' | 'cwd' | 'env' | 'text' | 'decider' | 'reason'
  > {
  /** What is said when the answer is no, for example "builder may not touch the pane web". */
  readonly refusal: string;
  /** Whether what would happen is still what was asked about. */
  holds(): boolean;
}

/** A conversation of several calls. One that has registered as an agent acts as that agent, whoever opened it. */
export interface Connection {
  /** Says who every later call of it is made for. */
  become(caller: Caller): void;
  /** Fires when it has ended; never where that cannot be known. */
  readonly ended?: AbortSignal;
  /** Where its client takes what it has not asked for. */
  readonly channel?: Channel | undefined;
}

/** A way to tell the program behind a connection something unasked; it says nothing of what it makes of it. */
export interface Channel {
  readonly isOpen: boolean;
  /** Answers whether it was sent. */
  send(text: string, about: Readonly<Record<string, string>>): boolean;
  /** Calls it once, as soon as the channel is open. */
  whenOpen(listener: () => void): void;
}

export interface Asker {
  readonly caller: Caller;
  /** Fires when nobody waits for the answer any more. */
  readonly signal: AbortSignal;
  /** What the call came with, so that its repeat gets the same answer. */
  readonly idempotencyKey?: string | undefined;
  /** What must be so before the user is asked and it is done; throws when it is not. Of a repeat it is not asked again. */
  readonly check?: (() => Promise<unknown>) | undefined;
  /** The connection it came by, where that lasts. */
  readonly connection?: Connection | undefined;
  /** Told that the user is asked from now on, which may take minutes. */
  readonly onAsked?: (() => void) | undefined;
}

/** Thrown where the user has not decided, and so nothing has happened: a repeat asks again. */
export class Undecided extends PolyError {}

/** Waits for the user's answer; throws unless it is yes. */
export type Ask = (question: Question, asker: Asker) => Promise<void>;

export const grantHint = 'The user decides: in config.toml, or by running it outside a pane.';
