import type { Approval, Decision } from '@polyphony/protocol';
import type { JSX } from 'react';
import { harmless } from './harmless.ts';
import type { HubState } from './hub-state.ts';
import { ageOf } from './pane-state.ts';

interface ApprovalsProps {
  readonly hub: HubState;
  readonly approvals: readonly Approval[];
  readonly now: number;
}

/** What somebody may do only when the user says so. */
export function Approvals({ hub, approvals, now }: ApprovalsProps): JSX.Element | null {
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
        {approvals.map(({ id, kind, action, by, paneId, command, cwd, env, text, reason, expiresAt }) => (
          <li key={id}>
            <p>
              <strong>{harmless(action === 'pane:restart' ? 'restart' : kind)}</strong>{' '}
              {paneId !== undefined && harmless(paneId)}{' '}
              <span className="dim">{leftUntil(expiresAt, now)}</span>
            </p>
            {command !== undefined && <pre>{command.map((word) => quoted(harmless(word))).join(' ')}</pre>}
            {text !== undefined && <pre>{text.split('\n').map(harmless).join('\n')}</pre>}
            {cwd !== undefined && <p className="dim">in {harmless(cwd)}</p>}
            {env !== undefined && env.length > 0 && (
              <p className="dim">with {env.map(harmless).join(', ')}</p>
            )}
            <p>
              <bdi>{harmless(reason)}</bdi> <span className="dim">{harmless(by)}</span>
            </p>
            <div className="actions">
              <button type="button" onClick={() => void resolve(id, 'deny')}>
                Deny
              </button>
              <button type="button" className="primary" onClick={() => void resolve(id, 'allow')}>
                Allow
              </button>
            </div>
          </li>
        ))}
      </ul>
    </section>
  );
}

/** So that one word with a space in it does not look like two. */
const quoted = (word: string): string => (/^[\w@%+=:,./-]+$/.test(word) ? word : JSON.stringify(word));

function leftUntil(expiresAt: string, now: number): string {
  const end = Date.parse(expiresAt);
  return end <= now ? 'expired' : `${ageOf(new Date(now).toISOString(), end)} left`;
}
