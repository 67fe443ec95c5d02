import type { ContractsOptions } from '../contracts/contracts.ts';
import type { EventLog, Source } from '../events/event-log.ts';
import type { Mail } from '../mail/mail.ts';
import type { Sender } from '../mail/mailbox.ts';
import { isConflict } from '../store/errors.ts';

const mostTold = 30;

/** Tells who depends on a contract of a new version, by one message from the hub. */
export function contractMail(mail: Mail, events: EventLog, source: Source): ContractsOptions['write'] {
  const hub: Sender = { key: 'hub', name: 'hub', participant: 'hub', isAgent: false, source };
  return async (notice, written) => {
    const { recipient, name, project, version, from_version, breaking, reason, diff } = notice;
    const hasMailbox = mail.book.get(recipient) !== undefined || recipient === mail.addresses.user.key;
    const changes = diff ? [...diff.removed, ...diff.added, ...diff.changed] : [];
    const lines = changes
      .toSorted((a, b) => Number(b.breaking) - Number(a.breaking))
      .slice(0, mostTold)
      .map((one) => `- ${one.breaking ? 'BREAKING ' : ''}${one.path || '/'}: ${one.message}`);
    const more = changes.length > mostTold ? [`- and ${changes.length - mostTold} more`] : [];
    const why = reason === 'task' ? 'A task you hold is built on it' : 'You subscribed to it';
    const body = [
      `The contract "${name}" is at version ${version}${breaking ? ', which breaks version ' : ' after '}${from_version}. ${why}.`,
      ...lines,
      ...more,
      `See all of it with diff_contracts (name "${name}", from_version ${from_version}, to_version ${version}), change your work, then acknowledge it with ack_contract (name "${name}"); until then no task built on an older version can be completed.`,
    ].join('\n');
    try {
      if (!hasMailbox) return void (await events.append([], [written]));
      const party = mail.addresses.partyOf(recipient);
      const letter = {
        ...{
          kind: 'direct' as const,
          project,
          addressed: party.name,
          recipients: [party],
          need_reply: false,
        },
        subject: `contract ${name} is at version ${version}`.slice(0, 200),
        body,
        importance: breaking ? ('high' as const) : ('normal' as const),
      };
      await mail.mailbox.send(hub, letter, ({ statements = [], drafts = [] }) =>
        events.append(drafts, [...statements, written]),
      );
    } catch (error) {
      // It was written meanwhile.
      if (!isConflict(error)) throw error;
    }
  };
}
