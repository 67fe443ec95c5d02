import { foldName, type Participant, PolyError } from '@polyphony/protocol';
import type { Caller } from '../registry/caller.ts';
import { addressees } from './addressees.ts';
import type { AgentBook } from './agent-book.ts';
import { type AgentRecord, participantOfAgent } from './agent-record.ts';
import type { Identity } from './identity.ts';
import type { Party, Sender } from './mailbox.ts';

export interface AddressesOptions {
  readonly book: AgentBook;
  readonly identity: Identity;
  /** The person this hub belongs to. */
  readonly user: Participant;
  /** Whether it is the id of somebody whom the user has invited. */
  readonly isInvited: (id: string) => boolean;
  /** Everybody who is a person here. */
  readonly people: () => readonly Participant[];
}

const partyOfAgent = ({ id, name }: AgentRecord): Party => ({ key: id, name });

/** Who is meant by a name, an id or a role. */
export class Addresses {
  readonly #options: AddressesOptions;

  constructor(options: AddressesOptions) {
    this.#options = options;
  }

  get user(): Party {
    return { key: this.#options.user, name: this.#options.user };
  }

  /** Whose mailbox a caller has. */
  sender(caller: Caller): Sender & { readonly project: string | undefined } {
    const record = this.#options.identity.agentOf(caller);
    const source = { participant: caller.participant, ...(caller.pane && { pane: caller.pane }) };
    if (!record) {
      const { participant } = caller;
      return { key: participant, name: participant, participant, isAgent: false, source, project: undefined };
    }
    const participant = participantOfAgent(record);
    return {
      ...partyOfAgent(record),
      ...{ participant, isAgent: true, project: record.project },
      source: { ...source, participant },
    };
  }

  partyOf(key: string): Party {
    const record = this.#options.book.get(key);
    return record ? partyOfAgent(record) : { key, name: key };
  }

  /** Who is meant by @name, from wherever; throws with who could be. */
  anyone(name: string, project: string): Party & { readonly project: string | undefined } {
    const { book, people } = this.#options;
    const found = addressees(book.members(), people(), { name, project });
    return typeof found === 'string'
      ? { key: found, name: found, project: undefined }
      : { ...partyOfAgent(found), project: found.project };
  }

  /** The one of that name: an agent's own project is meant unless it names another; the user need not where one fits. */
  named(name: string, project: string, isCertain: boolean): AgentRecord {
    const { book } = this.#options;
    const found = book.find(project, name);
    if (found && found.leftAt === undefined) return found;
    const elsewhere = book.list().filter((one) => one.name === foldName(name) && one.leftAt === undefined);
    const [only, ...others] = elsewhere;
    if (only && others.length === 0 && !isCertain) return only;
    const where = elsewhere.map((one) => `"${one.project}"`).join(', ');
    const left = found ? ' It has left.' : '';
    const renamed = book.renamed(project, name);
    throw unknownRecipient(
      `there is no agent "${name}" in the project "${project}".${left}`,
      renamed
        ? `It is called "${renamed.name}" now.`
        : where
          ? `There is one in ${where}: name it as to_project. ${listHint}`
          : listHint,
    );
  }

  byId(id: string, sender: { readonly project: string | undefined }): Party {
    const person = this.person(id);
    if (person) return person;
    const record = this.#options.book.get(id);
    const near = sender.project === undefined || record?.projectKey === foldName(sender.project);
    if (record && near && record.leftAt === undefined) return partyOfAgent(record);
    throw unknownRecipient(`there is no agent ${id.slice(0, 80)} in your project.`, listHint);
  }

  /** The person of that id; `user` is whose hub it is. */
  person(id: string): Party | undefined {
    if (id === 'user' || id === this.#options.user) return this.user;
    return this.#options.isInvited(id) ? { key: id, name: id } : undefined;
  }

  /** Everybody of a project, or of a role in it, but the sender; also those who are away. */
  members(project: string, sender: Party, role?: string): readonly Party[] {
    const wanted = role === undefined ? undefined : foldName(role);
    const found = this.#options.book
      .members(project)
      .filter((one) => one.id !== sender.key && (!wanted || (one.role && foldName(one.role) === wanted)));
    if (found.length > 0) return found.map(partyOfAgent);
    const who = role === undefined ? '' : ` with the role "${role}"`;
    throw unknownRecipient(`nobody else${who} is in the project "${project}".`, listHint);
  }
}

const listHint = 'poly mail agents shows who can be written to.';

export function unknownRecipient(message: string, hint: string): PolyError {
  return new PolyError('not_found', message, { hint, details: { reason: 'unknown_recipient' } });
}
