import { type Participant, PolyError, participantOf } from '@polyphony/protocol';
import type { Clock } from '../platform/clock.ts';
import { digest, sameDigest } from '../platform/credentials.ts';
import type { Random } from '../platform/random.ts';
import { allScopes, type Caller, paneScopes } from './caller.ts';

/** What a single-use ticket opens. */
export type TicketKind = 'events' | 'ws' | 'ui';

interface Ticket {
  readonly kind: TicketKind;
  readonly caller: Caller;
  readonly expiresAt: number;
}

export interface CredentialsOptions {
  readonly userToken: string;
  readonly user: Participant;
  readonly clock: Clock;
  readonly random: Random;
}

const ticketMs = 30_000;
/** So many wrong credentials a minute, from everybody together, before they are answered 429. */
const wrongAMinute = 20;

/** Who a credential belongs to. Scopes come from here alone. */
export class Credentials {
  readonly #options: CredentialsOptions;
  readonly #userDigest: Buffer;
  readonly #user: Caller;
  readonly #panes = new Map<string, Caller>();
  readonly #tickets = new Map<string, Ticket>();
  readonly #revoked = new Set<(pane: string) => void>();
  #wrong = { since: 0, count: 0 };

  constructor(options: CredentialsOptions) {
    this.#options = options;
    this.#userDigest = digest(options.userToken);
    this.#user = { participant: options.user, scopes: allScopes };
  }

  get user(): Caller {
    return this.#user;
  }

  identify(token: string): Caller {
    const given = digest(token);
    if (sameDigest(given, this.#userDigest)) return this.#user;
    const caller = this.#panes.get(given.toString('hex'));
    if (caller) return caller;
    throw this.#refuse('that credential is not one of this hub’s.');
  }

  /** A new token for a pane, and the digest to remember it by. */
  issue(pane: string): { readonly token: string; readonly hash: string } {
    const token = this.#options.random.token();
    const hash = digest(token).toString('hex');
    this.remember(pane, hash);
    return { token, hash };
  }

  remember(pane: string, hash: string): void {
    this.#panes.set(hash, { participant: participantOf('agent', pane), scopes: paneScopes, pane });
  }

  revoke(pane: string): void {
    for (const [hash, caller] of this.#panes) if (caller.pane === pane) this.#panes.delete(hash);
    for (const listener of this.#revoked) listener(pane);
  }

  onRevoked(listener: (pane: string) => void): () => void {
    this.#revoked.add(listener);
    return () => this.#revoked.delete(listener);
  }

  ticket(kind: TicketKind, caller: Caller): { readonly ticket: string; readonly expiresAt: string } {
    const { clock, random } = this.#options;
    const now = clock.monotonic();
    for (const [name, { expiresAt }] of this.#tickets) if (expiresAt <= now) this.#tickets.delete(name);
    const ticket = random.token();
    this.#tickets.set(ticket, { kind, caller, expiresAt: now + ticketMs });
    return { ticket, expiresAt: new Date(clock.now() + ticketMs).toISOString() };
  }

  /** Takes a ticket; it opens one thing once. */
  redeem(ticket: string, kind: TicketKind): Caller {
    const found = this.#tickets.get(ticket);
    this.#tickets.delete(ticket);
    const valid = found?.kind === kind && found.expiresAt > this.#options.clock.monotonic();
    if (found && valid && this.#holds(found.caller)) return found.caller;
    throw this.#refuse('that ticket is unknown, used or older than 30 seconds.');
  }

  /** Whether the credential behind a caller is still good. */
  #holds(caller: Caller): boolean {
    return caller === this.#user || [...this.#panes.values()].includes(caller);
  }

  #refuse(message: string): PolyError {
    const now = this.#options.clock.monotonic();
    if (now - this.#wrong.since > 60_000) this.#wrong = { since: now, count: 0 };
    if (++this.#wrong.count > wrongAMinute) {
      return new PolyError('too_many_requests', 'too many wrong credentials.', { hint: 'Wait a minute.' });
    }
    return new PolyError('unauthenticated', message, {
      hint: 'poly finds its credential by itself; a pane has POLY_TOKEN.',
    });
  }
}
