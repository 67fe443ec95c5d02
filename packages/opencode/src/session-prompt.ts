import { randomBytes } from 'node:crypto';
import type { OpenCodeClient } from './opencode.ts';

/** As OpenCode makes its own: they sort by time. */
export function newMessageId(): string {
  const time = (BigInt(Date.now()) * 0x1000n).toString(16).slice(-12).padStart(12, '0');
  return `msg_${time}${randomBytes(7).toString('hex')}`;
}

/**
 * Brings a prompt one step further. OpenCode 1.18.33 answers 204 to a prompt it then loses when a turn just died, so
 * that the same ids are posted again, which it takes once, until a turn saw it.
 */
export async function promptSession(
  client: OpenCodeClient,
  session: string,
  messageID: string,
  text: string,
  mayPost: boolean,
): Promise<'seen' | 'waiting' | 'posted' | 'given up' | 'no session'> {
  const path = { id: session };
  const found = await client.session.get({ path });
  if (found.response?.status === 404) return 'no session';
  const progress = await progressOf(client, session, messageID);
  if (progress !== 'absent') return progress;
  if (!mayPost) return 'given up';
  const { agent, model } = found.data ?? {};
  await client.session.promptAsync({
    path,
    body: {
      messageID,
      // Without these OpenCode 1.18.33 would go on as its default agent.
      agent,
      model: model && { providerID: model.providerID, modelID: model.id },
      variant: model?.variant === 'default' ? undefined : model?.variant,
      parts: [{ id: messageID.replace('msg_', 'prt_'), type: 'text', text }],
    },
  });
  return 'posted';
}

async function progressOf(
  client: OpenCodeClient,
  session: string,
  messageID: string,
): Promise<'seen' | 'waiting' | 'absent'> {
  const messages = (await client.session.messages({ path: { id: session } })).data ?? [];
  const ours = messages.find(({ info }) => info.id === messageID)?.info;
  if (!ours) return 'absent';
  const seen = messages.some(
    ({ info }) =>
      info.role === 'assistant' && (info.parentID === messageID || info.time.created > ours.time.created),
  );
  if (seen) return 'seen';
  return (await client.session.status()).data?.[session] === undefined ? 'absent' : 'waiting';
}
