import type { AgentExplanation, MailAgent, PaneInfo } from '@polyphony/protocol';
import { Fragment, type JSX } from 'react';
import { harmless } from '../page/harmless.ts';
import type { HubState } from '../page/hub-state.ts';
import { ageOf, commandOf } from '../page/pane-state.ts';
import { useLive } from '../page/use-live.ts';
import type { AgentRow } from './agent-rows.ts';

interface AgentFactsProps {
  readonly hub: HubState;
  readonly row: AgentRow;
  readonly now: number;
  readonly onBack: () => void;
  readonly onPane: (paneId: string) => void;
  readonly onWrite: (to: string) => void;
}

/** Everything that is known of one agent, and why it is believed. */
export function AgentFacts({ hub, row, now, onBack, onPane, onWrite }: AgentFactsProps): JSX.Element {
  const { name, state, pane, mail } = row;
  const isAgent = pane?.meta['agent.runtime'] !== undefined;
  const why = useLive(hub, ['agent'], [pane?.id, isAgent], async () =>
    pane && isAgent ? hub.client.call('agent:explain', { paneId: pane.id }) : undefined,
  );
  return (
    <article className="sheet" aria-label={`Agent ${name}`}>
      <header>
        <button type="button" className="back" aria-label="Back to the list" onClick={onBack}>
          ‹
        </button>
        <h2>
          <span className={`dot ${state.tone}`} /> <bdi>{name}</bdi>
        </h2>
        <span className="space" />
        {mail && (
          <button type="button" title="Write to it (c)" onClick={() => onWrite(mail.agent_id)}>
            Write
          </button>
        )}
        {pane && (
          <button type="button" className="primary" onClick={() => onPane(pane.id)}>
            Open its terminal
          </button>
        )}
      </header>
      <p className={`state ${state.tone}`}>
        {state.label}
        {state.since !== undefined && ` for ${ageOf(state.since, now)}`}
        {state.reason !== undefined && (
          <>
            : <bdi>{state.reason}</bdi>
          </>
        )}
      </p>
      <dl className="facts-list">
        {factsOf(mail, pane, now).map(([term, value]) => (
          <Fragment key={term}>
            <dt className="dim">{term}</dt>
            <dd>
              <bdi>{value}</bdi>
            </dd>
          </Fragment>
        ))}
      </dl>
      {why && <Why why={why} now={now} />}
    </article>
  );
}

function factsOf(
  mail: MailAgent | undefined,
  pane: PaneInfo | undefined,
  now: number,
): readonly (readonly [string, string])[] {
  const facts: readonly (readonly [string, string | undefined])[] = [
    ['project', mail?.project],
    ['role', mail?.role],
    ['program', mail?.client ?? textOf(pane?.meta['agent.runtime'])],
    ['model', mail?.model],
    ['can', mail?.capabilities?.join(', ')],
    ['unread', mail?.unread === undefined ? undefined : String(mail.unread)],
    ['runs', mail?.liveness],
    ['last seen', mail && `${ageOf(mail.last_seen_at, now)} ago`],
    ['pane', pane && `${pane.id}, ${pane.backend}`],
    ['command', pane && commandOf(pane)],
    ['folder', pane?.cwd],
    ['known as', mail && `${mail.participant} (${mail.agent_id})`],
  ];
  return facts.flatMap(([term, value]) =>
    value === undefined || value === '' ? [] : [[term, harmless(value)] as const],
  );
}

const textOf = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);

/** As `poly agent explain` tells it. */
function Why({ why, now }: { readonly why: AgentExplanation; readonly now: number }): JSX.Element {
  return (
    <section aria-label="Why it is taken for that">
      <h3>Why it is taken for that</h3>
      <p className="dim">{harmless(why.rule)}</p>
      <ul className="signals">
        {why.signals.map(({ authority, status, evidence, ageMs, decides }) => (
          <li key={authority} data-decides={decides}>
            <strong>{authority}</strong> {status}{' '}
            <span className="dim">{ageOf(new Date(now - ageMs).toISOString(), now)} ago</span>{' '}
            <bdi className="dim">{harmless(evidence)}</bdi>
          </li>
        ))}
      </ul>
    </section>
  );
}
