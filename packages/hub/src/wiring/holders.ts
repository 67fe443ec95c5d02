import { type Participant, PolyError } from '@polyphony/protocol';
import type { EventLog } from '../events/event-log.ts';
import { addressees } from '../mail/addressees.ts';
import { type AgentRecord, participantOfAgent } from '../mail/agent-record.ts';
import type { Mail } from '../mail/mail.ts';
import { type Caller, isUser } from '../registry/caller.ts';
import type { Holder, Holders } from '../registry/holder.ts';
import type { Departure } from '../store/leases.ts';

/** Who holds what, by the identities of mail; a program that has not registered is known by its pane. */
export function createHolders(
  { book, projects, shownAs }: Pick<Mail, 'book' | 'projects' | 'shownAs'>,
  folderOfPane: (pane: string) => string | undefined,
  people: () => readonly Participant[],
): Holders {
  const agentOf = ({ agent, birth }: Caller): AgentRecord | undefined => {
    const record = agent ? book.get(agent.id) : book.inPane(birth);
    const current = !agent || agent.generation === record?.generation;
    return record && current && record.leftAt === undefined ? record : undefined;
  };
  const ofAgent = (record: AgentRecord): Holder => ({
    key: record.id,
    keys: [record.id, ...(record.pane ? [record.pane.birth] : [])],
    participant: participantOfAgent(record),
    isUser: false,
    pane: record.pane?.id ?? null,
    folder: record.directory ?? (record.pane ? folderOfPane(record.pane.id) : undefined),
    reach: record.reach,
    project: record.project,
    source: { participant: participantOfAgent(record), ...(record.pane && { pane: record.pane.id }) },
  });
  const ofPerson = (participant: Participant): Holder => ({
    ...{ key: participant, keys: [participant], participant, isUser: participant === people()[0] },
    ...{ pane: null, source: { participant } },
  });
  const find = (project: string, name: string): Holder | undefined => {
    const record = book.find(project, name);
    return record && record.leftAt === undefined ? ofAgent(record) : undefined;
  };
  return {
    of(caller) {
      const record = agentOf(caller);
      if (record) return ofAgent(record);
      const { participant, pane, birth } = caller;
      // One whose name was taken over is nobody until it registers again.
      if (caller.agent)
        throw new PolyError('forbidden', `you no longer speak for ${participant}.`, {
          hint: 'Call reconnect, or ask your user which name you have now.',
        });
      const key = birth ?? participant;
      return {
        ...{ key, keys: [key], participant, isUser: isUser(caller), pane: pane ?? null },
        folder: pane === undefined ? undefined : folderOfPane(pane),
        reach: pane === undefined ? undefined : folderOfPane(pane),
        source: { participant, ...(pane !== undefined && { pane }) },
      };
    },
    find,
    named(project, name) {
      const found = find(project, name);
      if (found) return found;
      throw new PolyError('not_found', `there is no agent "${name}" in the project "${project}".`, {
        hint: 'poly mail agents shows who there is.',
        details: { reason: 'unknown_recipient' },
      });
    },
    anyone(project, name) {
      const found = addressees(book.members(), people(), { name, project });
      return typeof found === 'string' ? ofPerson(found) : ofAgent(found);
    },
    projectOf: (holder, choice) =>
      projects.named(choice) ?? holder.project ?? projects.of(choice, holder.folder),
    shownAs,
  };
}

interface Told {
  readonly paneId?: string;
  readonly agentId?: string;
  readonly participant?: string;
  readonly status?: string;
}

/** Hears who has gone: the program of a pane, an agent that has left its project, or a person who was removed. */
export function onDeparture(events: EventLog, listener: (departure: Departure) => void): () => void {
  return events.listen((batch) => {
    for (const { event, payload } of batch) {
      const { paneId = '', agentId = '', participant = '', status } = payload as Told;
      const ended = event === 'pane:exited' || event === 'pane:removed';
      if (ended || (event === 'agent:state' && status === 'gone')) listener({ pane: paneId });
      else if (event === 'mail:unregistered') listener({ key: agentId });
      else if (event === 'person:removed') listener({ key: participant });
    }
  });
}
