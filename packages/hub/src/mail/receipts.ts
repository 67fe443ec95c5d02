import type { MailSendResult } from '@polyphony/protocol';
import type { EventLog } from '../events/event-log.ts';
import type { Mailbox } from './mailbox.ts';

/** Hears how far everybody has read. */
export class Receipts {
  readonly #events: EventLog;
  readonly #mailbox: Mailbox;

  constructor(events: EventLog, mailbox: Mailbox) {
    this.#events = events;
    this.#mailbox = mailbox;
  }

  /** Waits until every recipient has read a message, or for so long, or until nobody waits any more. */
  async waitUntilRead(
    { event_id, recipients }: Pick<MailSendResult, 'event_id' | 'recipients'>,
    ms: number,
    signal: AbortSignal,
  ): Promise<NonNullable<MailSendResult['ack']>> {
    const begun = performance.now();
    const waiting = new Set(recipients);
    const { promise, resolve } = Promise.withResolvers<void>();
    const heard = (recipient: string, upTo: number): void => {
      if (upTo >= event_id) waiting.delete(recipient);
      if (waiting.size === 0) resolve();
    };
    const stop = this.#events.listen((events) => {
      for (const { event, payload } of events) {
        if (event !== 'mail:read') continue;
        const { recipient, upTo } = payload as { readonly recipient: string; readonly upTo: number };
        heard(recipient, upTo);
      }
    });
    const timer = setTimeout(resolve, ms);
    signal.addEventListener('abort', () => resolve(), { once: true });
    try {
      for (const recipient of recipients) heard(recipient, await this.#mailbox.cursorOf(recipient));
      await promise;
    } finally {
      stop();
      clearTimeout(timer);
    }
    const status = waiting.size === 0 ? 'read' : 'not_yet';
    return { status, waited_ms: Math.round(performance.now() - begun) };
  }
}
