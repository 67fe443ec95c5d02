import type { JSX } from 'react';
import { Receipts } from '../mail/receipts.tsx';
import type { HubState } from '../page/hub-state.ts';
import { useLive } from '../page/use-live.ts';

interface AdviceStateProps {
  readonly hub: HubState;
  readonly message: string;
  readonly now: number;
}

/** How far advice has got with whom it is for. */
export function AdviceState({ hub, message, now }: AdviceStateProps): JSX.Element | null {
  const known = useLive(hub, ['mail'], message, async () => {
    try {
      return await hub.client.call('mail:status', { message_id: message });
    } catch {
      return undefined; // Only who has said it may ask, and a hub that is away is asked again.
    }
  });
  return known ? <Receipts statuses={known.statuses} now={now} /> : null;
}
