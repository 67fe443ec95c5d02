import { isReservedName, PolyError } from '@polyphony/protocol';

/** Names and roles that belong to the hub are nobody else's. */
export function refuseReserved(what: 'name' | 'role', given: string | undefined): void {
  if (given === undefined || !isReservedName(given)) return;
  throw new PolyError('forbidden', `the ${what} "${given}" belongs to the hub.`, {
    hint: `Take another ${what}; your user or your task says which.`,
  });
}
