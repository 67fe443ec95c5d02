import type { PolyEvent } from '@polyphony/protocol';
import type { PaneBook } from '../panes/pane-book.ts';
import { owns, type SeatOf } from '../panes/permit.ts';
import { type Caller, isUser } from '../registry/caller.ts';
import type { Confinement } from './confinement.ts';

/**
 * What somebody may see of an event. A pane or an agent sees what others do, but not with which parameters, nor what the user is
 * asked, nor what a pane printed that is not its own. An invited person sees nothing of panes that feed no session.
 */
export function eventView(
  book: PaneBook,
  seatOf: SeatOf,
  confinement: Pick<Confinement, 'sees'>,
): (caller: Caller, event: PolyEvent) => PolyEvent | undefined {
  return (caller, event) => {
    const { pane } = caller;
    if (isUser(caller) || (pane !== undefined && event.pane === pane)) return event;
    if (!confinement.sees(caller, event)) return undefined;
    const { decider } = (event.payload ?? {}) as { readonly decider?: string };
    if (event.event === 'approval:requested' && decider === caller.participant) return event;
    if (/^(action|approval):/.test(event.event)) return undefined;
    if (caller.person !== undefined && isOfHiddenPane(event, seatOf)) return undefined;
    if (event.event !== 'pane:exited') return event;
    const { notice: _, ...told } = event.payload as { readonly paneId: string; readonly notice?: string };
    return owns(book, caller, told.paneId) ? event : { ...event, payload: told };
  };
}

function isOfHiddenPane({ payload }: PolyEvent, seatOf: SeatOf): boolean {
  const { paneId } = (payload ?? {}) as { readonly paneId?: unknown };
  return typeof paneId === 'string' && seatOf(paneId) === undefined;
}
