import type { ContractChange, ContractDiffParams } from '@polyphony/protocol';
import type { JSX } from 'react';
import { harmless } from '../page/harmless.ts';
import type { HubState } from '../page/hub-state.ts';
import { useLive } from '../page/use-live.ts';

interface ContractChangesProps {
  readonly hub: HubState;
  readonly project: string;
  readonly name: string;
  readonly from: number;
  readonly to: number;
}

const most = 200;

/** How two versions differ: what breaks somebody first. */
export function ContractChanges({ hub, project, name, from, to }: ContractChangesProps): JSX.Element {
  const asked: ContractDiffParams = { project, name, from_version: from, to_version: to };
  const diff = useLive(hub, [], asked, () => hub.client.call('contract:diff', asked));
  if (!diff || diff.from_version !== from || diff.to_version !== to) return <p className="dim">Comparing…</p>;
  const changes = [...diff.removed, ...diff.changed, ...diff.added];
  const breaking = changes.filter((change) => change.breaking);
  const others = changes.filter((change) => !change.breaking);
  const sorted = [...breaking, ...others];
  return (
    <>
      <p className={`state ${diff.breaking ? 'bad' : 'good'}`}>{summaryOf(breaking.length, others.length)}</p>
      <ul className="changes" aria-label="Changes">
        {sorted.slice(0, most).map((change) => (
          <Change key={`${change.path} ${change.kind} ${change.message}`} change={change} />
        ))}
      </ul>
      {sorted.length > most && <p className="dim">And {sorted.length - most} more.</p>}
    </>
  );
}

function Change({ change }: { readonly change: ContractChange }): JSX.Element {
  const { breaking, path, message } = change;
  return (
    <li data-breaking={breaking}>
      <span className={breaking ? 'breaks' : 'fits'}>{breaking ? 'breaks' : 'fits'}</span>{' '}
      <bdi>{harmless(message)}</bdi>
      <bdi className="mono dim">{harmless(path)}</bdi>
    </li>
  );
}

function summaryOf(breaking: number, others: number): string {
  if (breaking + others === 0) return 'They say the same.';
  const count = (number: number): string => (number === 1 ? '1 change' : `${number} changes`);
  if (breaking === 0) return `${count(others)}, and nothing breaks.`;
  return others === 0
    ? `${count(breaking)} that ${breaking === 1 ? 'breaks' : 'break'} something.`
    : `${count(breaking)} that ${breaking === 1 ? 'breaks' : 'break'} something, and ${others} that ${others === 1 ? 'does' : 'do'} not.`;
}
