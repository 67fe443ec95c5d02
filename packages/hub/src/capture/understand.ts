import { createHash } from 'node:crypto';
import type { Entry } from './journal.ts';
import { normalise, parsePayload, type Told } from './normalise.ts';
import { redactBytes } from './redact.ts';

/** What is kept of an event. */
export interface Understood extends Told {
  /** What the agent said, without secrets. */
  readonly raw: Uint8Array;
  /** Equal for equal events; null of one that is not whole. */
  readonly digest: Uint8Array | null;
}

/** There was no room for the event: that it happened is all that is known. */
const gap: Told = { normalised: { kind: 'gap', event: '', session: null, by: 'agent' }, state: null };

export function understand({ agent, cut, payload }: Pick<Entry, 'agent' | 'cut' | 'payload'>): Understood {
  const raw = redactBytes(Buffer.from(payload.buffer, payload.byteOffset, payload.byteLength));
  if (cut) return { ...gap, raw, digest: null };
  const digest = createHash('sha256').update(`${agent}\n`).update(raw).digest().subarray(0, 16);
  return { ...normalise(agent, parsePayload(raw)), raw, digest };
}
