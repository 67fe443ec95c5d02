import type { Approval, Decision } from '@polyphony/protocol';
import { Fragment, type JSX } from 'react';
import { harmless } from './harmless.ts';
import type { HubState } from './hub-state.ts';
import { ageOf } from './pane-state.ts';

interface ApprovalsProps {
  readonly hub: HubState;
  readonly approvals: readonly Approval[];
  /** The hub is there to be told. */
  readonly live: boolean;
  readonly now: number;
}

/** What somebody may do only when the user says so. */
export function Approvals({ hub, approvals, live, now }: ApprovalsProps): JSX.Element | null {
  if (approvals.length === 0) return null;
  const resolve = async (id: string, decision: Decision): Promise<void> => {
    await hub.attempt(hub.client.call('approval:resolve', { id, decision }));
    hub.refresh();
  };
  return (
    <section className="approvals" aria-label="Waiting for your approval" aria-live="polite">
      <h2>
        Waiting for your approval <span className="count">{approvals.length}</span>
      </h2>
      <ul>
        {approvals.map((approval) => (
          <li key={approval.id}>
            <p>
              <strong>{harmless(approval.by)}</strong> asks: <strong>{approval.kind}</strong>{' '}
              <span className="dim">
                ({harmless(approval.action)}), {leftUntil(approval.expiresAt, now)}
              </span>
            </p>
            <dl>
              {rowsOf(approval).map(([name, value]) => (
                <Fragment key={name}>
                  <dt className="dim">{name}</dt>
                  <dd>{isWritten.has(name) ? <pre>{value}</pre> : <bdi>{value}</bdi>}</dd>
                </Fragment>
              ))}
            </dl>
            <div className="actions">
              <button type="button" disabled={!live} onClick={() => void resolve(approval.id, 'deny')}>
                Deny
              </button>
              <button type="button" disabled={!live} onClick={() => void resolve(approval.id, 'allow')}>
                Allow
              </button>
            </div>
          </li>
        ))}
      </ul>
    </section>
  );
}

/** In the order and with the names of `poly approvals ls`. */
function rowsOf({
  paneId,
  command,
  cwd,
  env,
  text,
  reason,
}: Approval): readonly (readonly [string, string])[] {
  const rows: readonly (readonly [string, string | undefined])[] = [
    ['pane', paneId],
    ['command', command?.map((word) => quoted(harmless(word))).join(' ')],
    ['folder', cwd === undefined ? undefined : harmless(cwd)],
    ['variables', env?.map(harmless).join(', ')],
    ['text', text?.split('\n').map(harmless).join('\n')],
    ['because', harmless(reason)],
  ];
  return rows.filter((row): row is readonly [string, string] => row[1] !== undefined && row[1] !== '');
}

/** What would be typed or run stands letter by letter. */
const isWritten: ReadonlySet<string> = new Set(['command', 'text']);

/** So that one word with a space in it does not look like two. */
const quoted = (word: string): string => (/^[\w@%+=:,./-]+$/.test(word) ? word : JSON.stringify(word));

function leftUntil(expiresAt: string, now: number): string {
  const end = Date.parse(expiresAt);
  return end <= now ? 'expired' : `${ageOf(new Date(now).toISOString(), end)} left`;
}
