import { type Participant, PolyError, participantOf, type TicketKind } from '@polyphony/protocol';
import type { Clock } from '../platform/clock.ts';
import { digest, sameDigest, signature } from '../platform/credentials.ts';
import type { Random } from '../platform/random.ts';
import { allScopes, type Caller, isPerson, paneScopes, personScopes } from './caller.ts';

export interface PageKey {
  readonly token: string;
  readonly expiresAt: string;
}

interface IssuedTicket {
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
const pageKeyMs = 7 * 24 * 60 * 60_000;
/** When it ends, in seconds since 1970, something random, for a person its generation and name, and the signature over all. */
const pageKey = /^(ui\.(\d{1,12})\.[\w-]{43}(?:\.(\d{1,9})\.([a-z0-9][a-z0-9._-]{0,63}))?)\.([\w-]{43})$/;
/** So many wrong credentials a minute, from everybody together, before they are answered 429. */
const wrongAMinute = 20;

/** Whose credential is no longer good: that of a pane, or of a person. */
export type Revoked = Pick<Caller, 'pane' | 'person'>;

/** Whether somebody has come by such a credential. */
export const isRevoked = ({ pane, person }: Revoked, caller: Revoked): boolean =>
  caller.pane === pane && caller.person === person;

/** Who a credential belongs to. Scopes come from here alone. */
export class Credentials {
  readonly #options: CredentialsOptions;
  readonly #userDigest: Buffer;
  readonly #user: Caller;
  readonly #panes = new Map<string, Caller>();
  /** Agents that have a secret of their own, by its digest. */
  readonly #agents = new Map<string, Caller>();
  /** Invited people by name; their keys are of one generation. */
  readonly #people = new Map<string, { readonly caller: Caller; readonly generation: number }>();
  readonly #tickets = new Map<string, IssuedTicket>();
  readonly #revoked = new Set<(who: Revoked) => void>();
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
    const hash = given.toString('hex');
    const caller = this.#panes.get(hash) ?? this.#agents.get(hash);
    if (caller) return caller;
    const opener = this.#openerOf(token);
    if (opener) return opener;
    throw this.#refuse('that credential is not one of this hub’s.');
  }

  /** The pane a token was issued to, from before its program runs until its record is gone; a wrong one is not counted. */
  paneOf(token: string): string | undefined {
    return this.#panes.get(digest(token).toString('hex'))?.pane;
  }

  /** A key for the page of a person. It is signed and not remembered, so that the page outlives a restart of the hub. */
  exchange(ticket: string): PageKey {
    return this.pageKey(this.redeem(ticket, 'ui'));
  }

  pageKey({ person }: Caller): PageKey {
    const { clock, random, userToken } = this.#options;
    const until = Math.floor((clock.now() + pageKeyMs) / 1000);
    const known = person === undefined ? undefined : this.#people.get(person);
    const key = `ui.${until}.${random.token()}${known ? `.${known.generation}.${person}` : ''}`;
    const signed = signature(key, userToken).toString('base64url');
    return { token: `${key}.${signed}`, expiresAt: new Date(until * 1000).toISOString() };
  }

  /** Whose page has this key. */
  #openerOf(token: string): Caller | undefined {
    const [, key, until, generation, name, signed] = pageKey.exec(token) ?? [];
    if (key === undefined || signed === undefined) return undefined;
    const { clock, userToken } = this.#options;
    const genuine = sameDigest(Buffer.from(signed, 'base64url'), signature(key, userToken));
    if (!genuine || Number(until) * 1000 <= clock.now()) return undefined;
    if (name === undefined) return this.#user;
    const known = this.#people.get(name);
    return known?.generation === Number(generation) ? known.caller : undefined;
  }

  /** Lets keys of this generation, and of none before, be this person's. */
  rememberPerson(name: string, generation: number): Caller {
    const known = this.#people.get(name);
    if (known?.generation === generation) return known.caller;
    const participant = participantOf('user', name);
    const caller: Caller = { participant, scopes: personScopes, person: name, family: participant };
    this.#people.set(name, { caller, generation });
    return caller;
  }

  forgetPerson(name: string): void {
    if (this.#people.delete(name)) this.#tell({ person: name });
  }

  /** A new token for a pane of a family, or of one that begins with it, and the digest to remember it by. */
  issue(pane: string, family?: string): { readonly token: string; readonly hash: string } {
    const token = this.#options.random.token();
    const hash = digest(token).toString('hex');
    this.remember(pane, hash, family);
    return { token, hash };
  }

  remember(pane: string, hash: string, family: string = hash): void {
    const participant = participantOf('agent', pane);
    this.#panes.set(hash, { participant, scopes: paneScopes, pane, birth: hash, family });
  }

  /** Whoever was given the token of this digest with its pane. */
  inPane(hash: string): Caller | undefined {
    return this.#panes.get(hash);
  }

  /** Lets whoever has the secret of this digest be this agent, and nobody with the one before. */
  rememberAgent(hash: string, caller: Caller): void {
    for (const [known, { agent }] of this.#agents)
      if (agent?.id === caller.agent?.id) this.#agents.delete(known);
    this.#agents.set(hash, caller);
  }

  /** The agent whose secret it is; a wrong one is not counted. */
  agentOf(secret: string): Caller | undefined {
    return this.#agents.get(digest(secret).toString('hex'));
  }

  /** A text with a proof that this hub wrote it, which nothing has to be remembered for. */
  sign(text: string): string {
    return `${text}.${signature(text, this.#options.userToken).toString('base64url')}`;
  }

  /** The text, if this hub has signed it. */
  signed(given: string): string | undefined {
    const [, text = '', proof = ''] = /^(.*)\.([\w-]{43})$/s.exec(given) ?? [];
    const genuine = sameDigest(Buffer.from(proof, 'base64url'), signature(text, this.#options.userToken));
    return genuine ? text : undefined;
  }

  revoke(pane: string): void {
    for (const [hash, caller] of this.#panes) if (caller.pane === pane) this.#panes.delete(hash);
    this.#tell({ pane });
  }

  #tell(who: Revoked): void {
    for (const listener of this.#revoked) listener(who);
  }

  onRevoked(listener: (who: Revoked) => void): () => void {
    this.#revoked.add(listener);
    return () => this.#revoked.delete(listener);
  }

  ticket(kind: TicketKind, caller: Caller): { readonly ticket: string; readonly expiresAt: string } {
    if (kind === 'ui' && !isPerson(caller)) {
      throw new PolyError('forbidden', 'the page is for people; a program in a pane may not open it.', {
        hint: 'Outside of panes: poly open',
      });
    }
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
    if (found && valid && this.holds(found.caller)) return found.caller;
    throw this.#refuse(
      'that ticket is unknown, used or older than 30 seconds.',
      'Ask for another: POST /tickets, or poly open for the page.',
    );
  }

  /** Whether the credential behind a caller is still good. */
  holds(caller: Caller): boolean {
    const people = [...this.#people.values()].map((known) => known.caller);
    return (
      caller === this.#user || [...this.#panes.values(), ...this.#agents.values(), ...people].includes(caller)
    );
  }

  #refuse(message: string, hint = 'poly finds its credential by itself; a pane has POLY_TOKEN.'): PolyError {
    const now = this.#options.clock.monotonic();
    if (now - this.#wrong.since > 60_000) this.#wrong = { since: now, count: 0 };
    if (++this.#wrong.count > wrongAMinute) {
      return new PolyError('too_many_requests', 'too many wrong credentials.', { hint: 'Wait a minute.' });
    }
    return new PolyError('unauthenticated', message, { hint });
  }
}
