import { PolyError } from '@polyphony/protocol';
import type { EventLog } from '../events/event-log.ts';
import { type AgentRecord, participantOfAgent } from '../mail/agent-record.ts';
import type { Mail } from '../mail/mail.ts';
import { namedProject, projectOf } from '../mail/project.ts';
import { type Caller, isUser } from '../registry/caller.ts';
import type { Holder, Holders } from '../registry/holder.ts';

/** Who holds what, by the identities of mail; a program that has not registered is known by its pane. */
export function createHolders(
  { book }: Pick<Mail, 'book'>,
  folderOfPane: (pane: string) => string | undefined,
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
    project: record.project,
    source: { participant: participantOfAgent(record), ...(record.pane && { pane: record.pane.id }) },
  });
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
        source: { participant, ...(pane !== undefined && { pane }) },
      };
    },
    named(project, name) {
      const record = book.find(project, name);
      if (record && record.leftAt === undefined) return ofAgent(record);
      throw new PolyError('not_found', `there is no agent "${name}" in the project "${project}".`, {
        hint: 'poly mail agents shows who there is.',
        details: { reason: 'unknown_recipient' },
      });
    },
    projectOf: (holder, choice) => namedProject(choice) ?? holder.project ?? projectOf(choice, holder.folder),
  };
}

/** Somebody who is gone for good: the program of a pane, or an agent that has left its project. */
export interface Departure {
  readonly pane?: string | undefined;
  readonly key?: string | undefined;
}

interface Told {
  readonly paneId?: string;
  readonly agentId?: string;
  readonly status?: string;
}

/** Hears who has gone. */
export function onDeparture(events: EventLog, listener: (departure: Departure) => void): () => void {
  return events.listen((batch) => {
    for (const { event, payload } of batch) {
      const { paneId, agentId, status } = payload as Told;
      const ended = event === 'pane:exited' || event === 'pane:removed';
      if (ended || (event === 'agent:state' && status === 'gone')) listener({ pane: paneId });
      else if (event === 'mail:unregistered') listener({ key: agentId });
    }
  });
}
