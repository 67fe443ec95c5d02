import {
  foldName,
  type Participant,
  type Person,
  type PersonInvited,
  type PersonInviteParams,
  type PersonList,
  PolyError,
  participantOf,
} from '@polyphony/protocol';
import { draft, type EventLog } from '../events/event-log.ts';
import type { Clock } from '../platform/clock.ts';
import { digest } from '../platform/credentials.ts';
import type { Random } from '../platform/random.ts';
import type { Caller } from '../registry/caller.ts';
import type { Credentials, PageKey } from '../registry/credentials.ts';
import type { Commit } from '../registry/registry.ts';
import { isConflict } from '../store/errors.ts';
import type { Statement, Store } from '../store/store.ts';

export interface PeopleOptions {
  readonly store: Store;
  readonly events: EventLog;
  readonly credentials: Credentials;
  readonly clock: Clock;
  readonly random: Random;
  /** The person this hub belongs to. */
  readonly user: Participant;
}

interface PersonRow {
  readonly name: string;
  readonly display_name: string;
  /** Counts how often the person was let in anew: keys of an older number open nothing. */
  readonly generation: number;
  readonly invitation: string | null;
  readonly invitation_until: number | null;
  readonly invited_at: number;
  readonly came_at: number | null;
  readonly removed_at: number | null;
}

const invitationMs = 24 * 60 * 60_000;

/** Other people in the room: each comes in by an invitation of the user, and is known by the key it was exchanged for. */
export class People {
  readonly #options: PeopleOptions;
  readonly #here = new Map<string, PersonRow>();

  private constructor(options: PeopleOptions) {
    this.#options = options;
  }

  static async open(options: PeopleOptions): Promise<People> {
    const people = new People(options);
    const rows = await options.store.query<PersonRow>('SELECT * FROM people WHERE removed_at IS NULL');
    for (const row of rows) people.#keep(row);
    return people;
  }

  /** Everybody, whose hub this is first. */
  get everybody(): readonly Participant[] {
    return [
      this.#options.user,
      ...[...this.#here.keys()].toSorted().map((name) => participantOf('user', name)),
    ];
  }

  isInvited(id: string): boolean {
    return id.startsWith('user:') && this.#here.has(id.slice('user:'.length));
  }

  list(): PersonList {
    const people = [...this.#here.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
    return { user: this.#options.user, people: people.map((row) => this.#shown(row)) };
  }

  async invite(caller: Caller, params: PersonInviteParams, commit: Commit): Promise<PersonInvited> {
    const { clock, random, store, user } = this.#options;
    const name = foldName(params.name);
    const participant = participantOf('user', name);
    if (participant === user)
      throw new PolyError('conflict', `${user} is you, and this hub is yours.`, {
        hint: 'Invite somebody else; poly open shows you the page.',
      });
    const [before] = await store.query<PersonRow>('SELECT * FROM people WHERE name = ?', [name]);
    const now = clock.now();
    const ticket = random.token();
    const row: PersonRow = {
      name,
      display_name: params.display_name ?? before?.display_name ?? params.name,
      generation: (before?.generation ?? 0) + (before?.removed_at === null ? 0 : 1),
      invitation: digest(ticket).toString('hex'),
      invitation_until: now + invitationMs,
      invited_at: now,
      came_at: before?.removed_at === null ? before.came_at : null,
      removed_at: null,
    };
    const kept = { person: this.#shown(row), expires_at: new Date(now + invitationMs).toISOString() };
    const result: PersonInvited = { ...kept, ticket };
    await commit({
      statements: [write(row)],
      drafts: [draft(caller, 'person:invited', { participant })],
      result,
      kept,
    });
    this.#keep(row);
    return result;
  }

  async remove(caller: Caller, given: string, commit: Commit): Promise<{ readonly participant: string }> {
    const row = this.#here.get(foldName(given));
    if (!row)
      throw new PolyError('not_found', `nobody called "${given}" was invited.`, {
        hint: 'poly people list shows who was.',
      });
    const result = { participant: participantOf('user', row.name) };
    const gone = { ...row, invitation: null, invitation_until: null, removed_at: this.#options.clock.now() };
    await commit({
      statements: [write(gone)],
      drafts: [draft(caller, 'person:removed', result)],
      result,
    });
    this.#here.delete(row.name);
    this.#options.credentials.forgetPerson(row.name);
    return result;
  }

  /** The key of whoever shows an open invitation, which is used up by that; nothing for any other ticket. */
  async accept(ticket: string): Promise<PageKey | undefined> {
    const { events, credentials, clock } = this.#options;
    const hash = digest(ticket).toString('hex');
    const now = clock.now();
    const row = [...this.#here.values()].find(({ invitation }) => invitation === hash);
    if (!row || (row.invitation_until ?? 0) <= now) return undefined;
    const participant = participantOf('user', row.name);
    const used: Statement = {
      sql: 'UPDATE people SET invitation = NULL, invitation_until = NULL, came_at = ? WHERE name = ? AND invitation = ?',
      values: [now, row.name, hash],
      expect: 1,
    };
    try {
      await events.append([draft({ participant }, 'person:came', { participant })], [used]);
    } catch (error) {
      if (isConflict(error)) return undefined; // Somebody else was quicker.
      throw error;
    }
    return credentials.pageKey(
      this.#keep({ ...row, invitation: null, invitation_until: null, came_at: now }),
    );
  }

  #keep(row: PersonRow): Caller {
    this.#here.set(row.name, row);
    return this.#options.credentials.rememberPerson(row.name, row.generation);
  }

  #shown({ name, display_name, invitation_until, invited_at, came_at }: PersonRow): Person {
    return {
      participant: participantOf('user', name),
      display_name,
      invited_at: new Date(invited_at).toISOString(),
      invited: (invitation_until ?? 0) > this.#options.clock.now(),
      ...(came_at !== null && { came_at: new Date(came_at).toISOString() }),
    };
  }
}

function write(row: PersonRow): Statement {
  const columns = Object.keys(row) as (keyof PersonRow)[];
  return {
    sql: `INSERT INTO people (${columns.join(', ')}) VALUES (${columns.map(() => '?').join(', ')})
      ON CONFLICT (name) DO UPDATE SET ${columns.map((name) => `${name} = excluded.${name}`).join(', ')}`,
    values: columns.map((name) => row[name]),
  };
}
