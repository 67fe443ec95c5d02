import {
  type FloorHandedOn,
  foldName,
  type MailSendResult,
  mailLimits,
  PolyError,
} from '@polyphony/protocol';
import type { HandOn } from '../floor/named/actions.ts';
import type { NamedBook } from '../floor/named/named-book.ts';
import { parentOf } from '../floor/named/named-record.ts';
import { participantOfAgent } from '../mail/agent-record.ts';
import type { Mail } from '../mail/mail.ts';

/** A message goes on to a sub-agent of whoever got it, as a message of that one that says whose it was. */
export function handsOn({ addresses, mailbox, book }: Mail, named: NamedBook): HandOn {
  return async (caller, { message_id, to, note }, commit) => {
    const sender = addresses.sender(caller);
    const message = await mailbox.messageOf(sender, message_id);
    const wanted = foldName(to.replace(/^@?(agent:)?/, ''));
    const below = book
      .members(sender.project ?? message.project)
      .filter(({ name }) => named.get(name) && isBelow(name, sender.isAgent ? sender.name : undefined));
    const found = below.find(({ name }) => [wanted, `${sender.name}.${wanted}`].includes(name));
    if (!found) {
      const names = below.map(({ name }) => name).join(', ');
      throw new PolyError('not_found', `there is no sub-agent "${wanted}" to hand it on to.`, {
        hint: names === '' ? 'None has registered here.' : `There are ${names}.`,
        details: { reason: 'unknown_recipient' },
      });
    }
    const head = `${sender.participant} hands on to you what ${message.from_participant} wrote. Answer ${message.from_participant} yourself, with reply_to of this message.`;
    const body = [head, ...(note === undefined ? [] : [note]), message.body].join('\n\n');
    if (Buffer.byteLength(body) > mailLimits.bodyBytes)
      throw new PolyError(
        'invalid_arguments',
        `${message_id} with your note has more bytes than a message may.`,
        {
          hint: `Leave out the note, or say in a message of your own what is to be done.`,
        },
      );
    const recipients = [{ key: found.id, name: found.name }];
    const about = { kind: 'direct', project: found.project, addressed: found.name, recipients } as const;
    const handed = ({ message_id, event_id, thread_id }: MailSendResult): FloorHandedOn => ({
      ...{ message_id, event_id, thread_id, from: message.from_participant, to: participantOfAgent(found) },
    });
    const sent = await mailbox.send(
      sender,
      { ...about, reply_to: message_id, body, ...(message.subject !== null && { subject: message.subject }) },
      (step) => commit({ ...step, result: handed(step.result as MailSendResult) }),
    );
    return handed(sent);
  };
}

/** Whether somebody is a sub-agent, of that one or of anybody. */
const isBelow = (name: string, parent: string | undefined): boolean =>
  parent === undefined ? parentOf(name) !== undefined : name.startsWith(`${parent}.`);
