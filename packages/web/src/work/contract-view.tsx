import type { ContractHistoryResult, ContractVersion } from '@polyphony/protocol';
import { type JSX, useState } from 'react';
import { harmless } from '../page/harmless.ts';
import type { HubState } from '../page/hub-state.ts';
import { ageOf } from '../page/pane-state.ts';
import { useLive } from '../page/use-live.ts';
import { Who } from '../page/who.tsx';
import { ContractChanges } from './contract-changes.tsx';

interface ContractViewProps {
  readonly hub: HubState;
  readonly project: string;
  readonly name: string;
  readonly now: number;
  readonly onBack: () => void;
}

/** One contract: what changed between two of its versions, who depends on it and who has acknowledged. */
export function ContractView({ hub, project, name, now, onBack }: ContractViewProps): JSX.Element {
  const history = useLive(hub, ['contract', 'task'], [project, name], () =>
    hub.client.call('contract:history', { project, name }),
  );
  /** Until somebody chooses, the last step is shown, also when there is a new one. */
  const [chosen, setChosen] = useState<readonly [from: number, to: number]>();
  const latest = history?.version ?? 0;
  const [from, to] = chosen ?? [latest - 1, latest];
  const versions = history?.versions ?? [];
  return (
    <article className="sheet" aria-label={`Contract ${harmless(name)}`}>
      <header>
        <button type="button" className="back" aria-label="Back to the list" onClick={onBack}>
          ‹
        </button>
        <h2>
          <bdi>{harmless(name)}</bdi>
        </h2>
        <bdi className="dim">{harmless(project)}</bdi>
      </header>
      {history?.watch !== undefined && (
        <p className="dim">
          Every change of <bdi className="mono">{harmless(history.watch)}</bdi> is a version.
        </p>
      )}
      {history?.problem !== undefined && (
        <p className="state bad">
          It cannot be read now: <bdi>{harmless(history.problem)}</bdi>
        </p>
      )}
      {latest > 1 && (
        <section aria-label="What changed">
          <h3>What changed</h3>
          <div className="versions-choice">
            <VersionChoice
              label="From"
              versions={versions}
              chosen={from}
              onChoose={(one) => setChosen([one, to])}
            />
            <VersionChoice
              label="To"
              versions={versions}
              chosen={to}
              onChoose={(one) => setChosen([from, one])}
            />
          </div>
          <ContractChanges hub={hub} project={project} name={name} from={from} to={to} />
        </section>
      )}
      {history && <Dependents history={history} />}
      {history && (
        <section aria-label="Versions">
          <h3>Versions</h3>
          <ol className="versions">
            {versions.map((one) => (
              <li key={one.version}>
                <strong>{one.version}</strong> {one.breaking && <span className="breaks">breaks</span>}{' '}
                <Who id={one.registered_by} />{' '}
                <span className="dim" title={new Date(one.registered_at).toLocaleString()}>
                  {ageOf(one.registered_at, now)} ago
                </span>{' '}
                {one.note !== undefined && <bdi>{harmless(one.note)}</bdi>}
              </li>
            ))}
          </ol>
        </section>
      )}
    </article>
  );
}

interface VersionChoiceProps {
  readonly label: string;
  readonly versions: readonly ContractVersion[];
  readonly chosen: number;
  readonly onChoose: (version: number) => void;
}

function VersionChoice({ label, versions, chosen, onChoose }: VersionChoiceProps): JSX.Element {
  return (
    <label>
      {label}{' '}
      <select
        aria-label={`${label} version`}
        value={chosen}
        onChange={(event) => onChoose(Number(event.currentTarget.value))}
      >
        {versions.map(({ version }) => (
          <option key={version} value={version}>
            version {version}
          </option>
        ))}
      </select>
    </label>
  );
}

function Dependents({ history }: { readonly history: ContractHistoryResult }): JSX.Element {
  return (
    <section aria-label="Who depends on it">
      <h3>Who depends on it</h3>
      {history.dependents.length === 0 && <p className="dim">Nobody yet.</p>}
      <ul className="dependents">
        {history.dependents.map(({ participant, subscribed, unacknowledged }) => (
          <li key={`${participant} ${subscribed} ${unacknowledged.join()}`}>
            <span className={`dot ${unacknowledged.length > 0 ? 'wait' : 'good'}`} />
            {participant === undefined ? <span>somebody who has gone</span> : <Who id={participant} />}
            <span className="dim">{subscribed ? 'subscribed' : 'by a task'}</span>
            <span className={`state ${unacknowledged.length > 0 ? 'wait' : 'good'}`}>
              {unacknowledged.length > 0
                ? `has not acknowledged version ${unacknowledged.join(', ')}`
                : 'knows the latest'}
            </span>
          </li>
        ))}
      </ul>
    </section>
  );
}
