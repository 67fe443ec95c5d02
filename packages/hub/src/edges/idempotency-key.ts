import type { IncomingMessage } from 'node:http';

/** The key a request carries by which a repeat of it is known. */
export function keyOf({ headers }: IncomingMessage): { readonly idempotencyKey?: string } {
  const key = headers['idempotency-key'];
  return typeof key === 'string' ? { idempotencyKey: key } : {};
}
