import type { Client, MailMessage, MailRegisterParams } from '@polyphony/protocol';
import type { TestHub } from './test-hub.ts';

/** An agent without a pane, as its secret makes it. */
export interface TestAgent extends Client {
  readonly id: string;
  readonly secret: string;
  read(limit?: number): Promise<readonly MailMessage[]>;
}

export async function register(
  hub: TestHub,
  name: string,
  more: Partial<MailRegisterParams> = {},
): Promise<TestAgent> {
  const { agent_id, secret = '' } = await hub.client.call('mail:register', {
    name,
    project: 'demo',
    ...more,
  });
  const client = hub.as(secret);
  return {
    ...client,
    id: agent_id,
    secret,
    read: async (limit = 200) => (await client.call('mail:inbox', { limit })).messages,
  };
}

/** The text of each message. */
export const bodies = (messages: readonly MailMessage[]): readonly string[] =>
  messages.map(({ body }) => body);
