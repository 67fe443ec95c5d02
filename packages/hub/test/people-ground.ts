import type { Client } from '@polyphony/protocol';
import type { TestHub } from './test-hub.ts';

/** A person who has taken an invitation, and the key of their page. */
export async function invited(hub: TestHub, name: string): Promise<Client & { readonly token: string }> {
  const { ticket } = await hub.client.call('person:invite', { name });
  const { body } = await hub.send({
    ...{ method: 'POST', path: '/tickets/exchange', body: JSON.stringify({ ticket }) },
    headers: { 'content-type': 'application/json' },
  } as Parameters<TestHub['send']>[0]);
  const { token } = JSON.parse(body) as { readonly token: string };
  return { ...hub.as(token), token };
}
