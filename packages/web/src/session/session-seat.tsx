import type { Approval, FloorSession } from '@polyphony/protocol';
import { type JSX, useState } from 'react';
import { harmless } from '../page/harmless.ts';
import type { HubState } from '../page/hub-state.ts';
import { useOneAtATime } from '../page/one-at-a-time.ts';
import { untilOf } from '../page/until.ts';
import { Who } from '../page/who.tsx';
import { HandoverDialog } from './handover-dialog.tsx';

interface SessionSeatProps {
  readonly hub: HubState;
  readonly session: FloorSession;
  readonly approvals: readonly Approval[];
  readonly you: string | undefined;
  readonly now: number;
}

/** Who may type in a session, and how that changes: taken where nobody has it, asked for, given away. */
export function SessionSeat({ hub, session, approvals, you, now }: SessionSeatProps): JSX.Element {
  const { session_id, driver, lease_until, archived_at } = session;
  const [isGiving, setGiving] = useState(false);
  const [isAsking, setAsking] = useState(false);
  const { busy, run } = useOneAtATime();
  const isYours = driver !== undefined && driver === you;
  const left = lease_until === undefined ? undefined : untilOf(lease_until, now);
  const claim = (takeover: boolean): Promise<void> =>
    run(async () => {
      setAsking(takeover);
      const claiming = hub.client.call('floor:claim', {
        ...{ session: session_id },
        ...(takeover && { takeover }),
      });
      await hub.attempt(claiming);
      setAsking(false);
    });
  const asks = approvals.filter(
    ({ kind, reason }) => kind === 'seat' && reason.includes(` ${session.project}/${session.slug};`),
  );
  return (
    <fieldset className="seat" aria-label="Seat">
      {driver === undefined ? (
        <span className="dim">nobody drives</span>
      ) : (
        <span title={left === undefined ? undefined : `for ${left} more, and longer while something is done`}>
          <Who id={driver} you={you} /> <span className="dim">{isYours ? 'drive' : 'drives'}</span>
        </span>
      )}
      {archived_at === undefined && driver === undefined && (
        <button type="button" className="primary" disabled={busy} onClick={() => void claim(false)}>
          Take the seat
        </button>
      )}
      {archived_at === undefined && driver !== undefined && !isYours && (
        <button
          type="button"
          disabled={busy}
          title="It is asked of whoever drives; an agent gives way to people"
          onClick={() => void claim(true)}
        >
          {isAsking ? 'Asked: waiting for the answer' : 'Take over'}
        </button>
      )}
      {archived_at === undefined && isYours && (
        <button type="button" disabled={busy} onClick={() => setGiving(true)}>
          Hand over
        </button>
      )}
      {asks.map(({ id, by }) => (
        <span key={id} className="asks" role="alert">
          <bdi>{harmless(by.replace(/^(user|agent|slack):/, ''))}</bdi> asks for the seat{' '}
          {(['allow', 'deny'] as const).map((decision) => (
            <button
              key={decision}
              type="button"
              onClick={() => void hub.attempt(hub.client.call('approval:resolve', { id, decision }))}
            >
              {decision === 'allow' ? 'Give it' : 'Keep it'}
            </button>
          ))}
        </span>
      ))}
      {isGiving && (
        <HandoverDialog
          hub={hub}
          session={session}
          you={you}
          onClose={() => {
            setGiving(false);
            hub.report(undefined);
          }}
        />
      )}
    </fieldset>
  );
}
