import type { Approval, Decision } from '@polyphony/protocol';
import { Fragment, type JSX, useLayoutEffect, useRef, useState } from 'react';
import { harmless, harmlessLines } from '../page/harmless.ts';
import type { HubState } from '../page/hub-state.ts';
import { type Movement, steadyAfterMs } from '../page/movement.ts';
import { useOneAtATime } from '../page/one-at-a-time.ts';
import { untilOf } from '../page/until.ts';

interface ApprovalsProps {
  readonly hub: HubState;
  readonly approvals: readonly Approval[];
  /** How they have just moved. */
  readonly movement: Movement;
  /** The hub is there to be told. */
  readonly live: boolean;
  readonly now: number;
}

/** What somebody may do only when the user says so. */
export function Approvals({ approvals, ...props }: ApprovalsProps): JSX.Element | null {
  /** When one came or went, and stands now where something else stood. */
  const moved = useRef({ ids: '', at: Number.NEGATIVE_INFINITY });
  useLayoutEffect(() => {
    const ids = approvals.map(({ id }) => id).join(' ');
    moved.current = { ids, at: ids === moved.current.ids ? moved.current.at : Date.now() };
  }, [approvals]);
  const isSteady = (): boolean => Date.now() - moved.current.at > steadyAfterMs;
  if (approvals.length === 0) return null;
  return (
    <section className="approvals" aria-label="Waiting for your approval" aria-live="polite">
      <h2>
        Waiting for your approval <span className="count">{approvals.length}</span>
      </h2>
      <ul>
        {approvals.map((approval) => (
          <Waiting key={approval.id} approval={approval} isSteady={isSteady} {...props} />
        ))}
      </ul>
    </section>
  );
}

interface WaitingProps extends Omit<ApprovalsProps, 'approvals'> {
  readonly approval: Approval;
  /** It has stood where it stands for long enough to be meant by a click. */
  readonly isSteady: () => boolean;
}

function Waiting({ hub, approval, isSteady, movement, live, now }: WaitingProps): JSX.Element {
  const { busy, run } = useOneAtATime();
  const [decided, setDecided] = useState(false);
  const resolve = async (decision: Decision): Promise<void> => {
    setDecided(await hub.attempt(hub.client.call('approval:resolve', { id: approval.id, decision })));
    hub.refresh();
  };
  return (
    <li>
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
        {decisions.map(([decision, label]) => (
          <button
            key={decision}
            type="button"
            // One that was decided is on the list until that has been read anew.
            disabled={!live || busy || decided}
            aria-disabled={movement === 'grown' || undefined}
            onClick={(event) => {
              const isClick = event.detail > 0;
              if (!isClick || isSteady()) void run(() => resolve(decision));
            }}
          >
            {label}
          </button>
        ))}
      </div>
    </li>
  );
}

const decisions: readonly (readonly [Decision, string])[] = [
  ['deny', 'Deny'],
  ['allow', 'Allow'],
];

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
    ['text', text === undefined ? undefined : harmlessLines(text)],
    ['because', harmless(reason)],
  ];
  return rows.filter((row): row is readonly [string, string] => row[1] !== undefined && row[1] !== '');
}

/** What would be typed or run stands letter by letter. */
const isWritten: ReadonlySet<string> = new Set(['command', 'text']);

/** So that one word with a space in it does not look like two. */
const quoted = (word: string): string => (/^[\w@%+=:,./-]+$/.test(word) ? word : JSON.stringify(word));

function leftUntil(expiresAt: string, now: number): string {
  const left = untilOf(expiresAt, now);
  return left === undefined ? 'expired' : `${left} left`;
}
