import type { ContractInfo } from '@polyphony/protocol';
import type { JSX } from 'react';
import { harmless } from '../page/harmless.ts';
import type { HubState } from '../page/hub-state.ts';
import { Rows } from '../page/rows.tsx';
import { Teaching } from '../page/teaching.tsx';
import { useLive } from '../page/use-live.ts';
import { ContractView } from './contract-view.tsx';

interface ContractsPageProps {
  readonly hub: HubState;
  readonly open: string | undefined;
  readonly now: number;
  readonly onOpen: (id: string | undefined) => void;
}

/** A project has no slash in its name. */
const idOf = ({ project, name }: ContractInfo): string => `${project}/${name}`;

/** What agents have agreed on: its versions, how they differ, and who knows. */
export function ContractsPage({ hub, open, now, onOpen }: ContractsPageProps): JSX.Element {
  const known = useLive(hub, ['contract'], 'contracts', () => hub.client.call('contract:list', {}));
  const contracts = known?.contracts ?? [];
  const shown = contracts.find((contract) => idOf(contract) === open);
  if (known && contracts.length === 0)
    return (
      <main className="view whole">
        <Teaching title="No contracts yet" command="poly contract watch openapi.yaml">
          A contract is a JSON Schema or an OpenAPI document that agents build on. Of a file that is watched
          every change is a version: who depends on it is told what changed, and tasks built on the older one
          wait until it is acknowledged. Watch one:
        </Teaching>
      </main>
    );
  return (
    <main className="view" data-shows={shown ? 'item' : 'list'}>
      <nav className="side" aria-label="Contracts">
        <Rows label="Contracts" items={contracts} idOf={idOf} open={shown && idOf(shown)} onOpen={onOpen}>
          {(contract) => <ContractLine contract={contract} />}
        </Rows>
      </nav>
      <div className="item">
        {shown ? (
          <ContractView
            key={idOf(shown)}
            hub={hub}
            project={shown.project}
            name={shown.name}
            now={now}
            onBack={() => onOpen(undefined)}
          />
        ) : (
          <p className="empty dim">Choose a contract from the list.</p>
        )}
      </div>
    </main>
  );
}

function ContractLine({ contract }: { readonly contract: ContractInfo }): JSX.Element {
  const { name, project, version, format, watch, problem } = contract;
  return (
    <>
      <span
        className={`dot ${problem === undefined ? 'none' : 'bad'}`}
        title={problem && harmless(problem)}
      />
      <bdi className="title">{harmless(name)}</bdi>
      <span className="age">{version === 0 ? 'none yet' : `version ${version}`}</span>
      {watch !== undefined && <bdi className="command mono">{harmless(watch)}</bdi>}
      {problem !== undefined && <bdi className="reason">{harmless(problem)}</bdi>}
      <span className="facts">
        <bdi>{harmless(project)}</bdi>
        {format !== undefined && <span>{format}</span>}
      </span>
    </>
  );
}
