import type { WriteAdvice } from '../floor/seat/advice.ts';
import { digestOf } from '../floor/seat/digest.ts';
import type { SeatsOptions } from '../floor/seat/seats.ts';
import type { Mail } from '../mail/mail.ts';
import type { Sender } from '../mail/mailbox.ts';
import type { Store } from '../store/store.ts';

/** Advice is a message like others: kept, delivered once by the best door, and its state told to who sent it. */
export function adviceMail({ mailbox }: Pick<Mail, 'mailbox'>): WriteAdvice {
  return async ({ key, participant, source }, to, { project, text }, commit) => {
    const isAgent = participant.startsWith('agent:');
    const sender: Sender = { key, name: participant, participant, isAgent, source };
    const about = { kind: 'advice', project, addressed: to.name, recipients: [to] } as const;
    return mailbox.send(sender, { ...about, body: text, need_reply: false }, commit);
  };
}

/** What a new driver hears, and the agent of the session with its next turn. */
export function digests(
  store: Store,
  { mailbox, shownAs }: Pick<Mail, 'mailbox' | 'shownAs'>,
): Pick<SeatsOptions, 'digestFor' | 'tellAgent'> {
  return {
    digestFor: async ({ id, project, slug }, { key, participant }) =>
      digestOf(store, { id, place: `${shownAs(project)}/${slug}` }, participant, await mailbox.unreadOf(key)),
    async tellAgent({ id, slug, project, driver }, { participant, source }, digest, commit) {
      const sender: Sender = { key: 'hub', name: 'hub', participant, isAgent: false, source };
      const to = { key: id, name: slug };
      const about = { kind: 'digest', project: shownAs(project), addressed: slug, recipients: [to] } as const;
      const body = `${participant} drives this session from now on${driver === null ? '' : `, after ${driver}`}.\n${digest}`;
      await mailbox.send(sender, { ...about, body, need_reply: false }, (step) =>
        commit({ ...step, statements: [...supersede(id), ...(step.statements ?? [])] }),
      );
    },
  };
}

/** What was not told yet of drivers before is told no more. */
function supersede(session: string) {
  const older = `recipient = ? AND message IN (SELECT d.message FROM deliveries d JOIN messages m ON m.seq = d.message
    WHERE d.recipient = ? AND d.state = 'queued' AND d.hint IS NULL AND m.kind = 'digest')`;
  return [
    { sql: `DELETE FROM outbox WHERE kind = 'delivery' AND ${older}`, values: [session, session] },
    {
      sql: `UPDATE deliveries SET state = 'failed', reason = 'superseded: another drives by now', next_at = NULL
        WHERE ${older}`,
      values: [session, session],
    },
  ];
}
