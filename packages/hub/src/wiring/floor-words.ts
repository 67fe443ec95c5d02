import { type Participant, participantOf } from '@polyphony/protocol';
import { insertCapture } from '../capture/capture-row.ts';
import { understand } from '../capture/understand.ts';
import type { NamedBook } from '../floor/named/named-book.ts';
import type { NamedRecord } from '../floor/named/named-record.ts';
import type { KnownMember } from '../floor/team.ts';
import type { ReadEvent } from '../floor/timeline/records.ts';
import { participantOfAgent } from '../mail/agent-record.ts';
import type { Mail } from '../mail/mail.ts';
import type { Clock } from '../platform/clock.ts';

/** Reads an event that somebody hands over as a capture hook's is read, secrets made unreadable. */
export function readHandedOver(clock: Clock): ReadEvent {
  return ({ id, vendor, payload, occurredAt, pane }) => {
    const bytes = Buffer.from(JSON.stringify(payload));
    const understood = understand({ agent: vendor, cut: false, payload: bytes });
    const from = { id, agent: vendor, pane, occurredAt, tmux: '', origin: 'handed over', asTool: false };
    return {
      captured: { ...from, normalised: understood.normalised },
      insert: insertCapture({ ...from, receivedAt: clock.now() }, { ...understood, digest: null }),
    };
  };
}

/** The person this hub belongs to, the agents that the user has named, and those that mail knows. */
export function knownMembers(
  { book, presence }: Mail,
  user: Participant,
  named: NamedBook,
): readonly KnownMember[] {
  const person = {
    participant: user,
    kind: 'person',
    name: user.slice('user:'.length),
    projects: [],
  } as const;
  const agents = book.members().map(
    (record): KnownMember => ({
      ...{ participant: participantOfAgent(record), kind: 'agent', name: record.name },
      ...(record.displayName !== undefined && { display_name: record.displayName }),
      projects: [record.projectKey],
      liveness: presence.livenessOf(record),
      last_seen_at: new Date(book.seenAt(record)).toISOString(),
    }),
  );
  return [person, ...agents, ...named.list().map((record) => namedMember(named, record))];
}

/** A sub-agent is seen as the one at the top, and known by its own name. */
function namedMember(named: NamedBook, { name, displayName }: NamedRecord): KnownMember {
  const { displayName: shown_as, icon } = named.personaOf(name) ?? { displayName };
  return {
    ...{
      participant: participantOf('agent', name),
      kind: 'agent',
      name,
      display_name: displayName,
      shown_as,
    },
    ...(icon !== undefined && { icon }),
    projects: named.membersOf(name).map(({ project }) => project),
  };
}
