import type { Seats } from '../floor/seat/seats.ts';
import type { Permissions } from '../registry/dispatch.ts';

/** What types into a pane. */
const typing: ReadonlySet<string> = new Set(['pane:write', 'pane:keys', 'agent:message']);

/** Nobody is asked whether somebody may type who has not the seat. */
export function permitSeat(
  seats: Pick<Seats, 'refuse'>,
  permitPane: Permissions['permitPane'],
): Permissions['permitPane'] {
  return (caller, action, params) => {
    if (typing.has(action.name)) seats.refuse(params.paneId, caller);
    return permitPane(caller, action, params);
  };
}
