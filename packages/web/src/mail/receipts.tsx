import type { DeliveryState, MailDelivery } from '@polyphony/protocol';
import type { JSX } from 'react';
import { harmless } from '../page/harmless.ts';
import { untilOf } from '../page/until.ts';
import { Who } from '../page/who.tsx';

const tones: Readonly<Record<DeliveryState | 'read', string>> = {
  queued: 'off',
  written: 'busy',
  seen: 'good',
  failed: 'bad',
  uncertain: 'wait',
  read: 'good',
};

/** How far a message has got with each recipient. */
export function Receipts({
  statuses,
  now,
}: {
  readonly statuses: readonly MailDelivery[];
  readonly now: number;
}): JSX.Element {
  return (
    <ul className="receipts" aria-label="Receipts">
      {statuses.map((status) => {
        const word = status.read ? 'read' : status.state;
        return (
          <li key={status.agent_id} data-state={word} title={titleOf(status)}>
            <span className={`dot ${tones[word]}`} />
            <Who id={status.name} />
            <span className={`state ${tones[word]}`}>{word}</span>
            {!status.read && <span className="dim">{moreOf(status, now)}</span>}
          </li>
        );
      })}
    </ul>
  );
}

/** Why it has got no further, and when that is tried again. */
function moreOf({ reason, next_attempt_at: next }: MailDelivery, now: number): string {
  const because = reason === undefined ? undefined : harmless(reason).replaceAll('_', ' ');
  const left = next === undefined ? undefined : untilOf(next, now);
  const again = next && `next attempt ${left === undefined ? 'now' : `in ${left}`}`;
  return [because, again].filter(Boolean).join(', ');
}

function titleOf({ state, door, attempts, updated_at }: MailDelivery): string {
  const how = door === undefined ? '' : ` by ${harmless(door)}`;
  const tries = attempts === 0 ? '' : `, ${attempts === 1 ? '1 attempt' : `${attempts} attempts`}`;
  return `${state}${how}${tries}, ${new Date(updated_at).toLocaleString()}`;
}
