import { foldName, PolyError, type TaskContract } from '@polyphony/protocol';
import { standing } from '../platform/lease.ts';
import type { Holder } from '../registry/holder.ts';
import { isoTime, leaseOf, type TaskRow } from './task-row.ts';

/** Why somebody does not hold a task, or nothing when it does. */
export function refusalOf(row: TaskRow, holder: Holder, fence: number | undefined): PolyError | undefined {
  const { id, state, owner, owner_name } = row;
  if (state === 'completed')
    return new PolyError('already_completed', `${id} is completed.`, {
      hint: 'Nothing is left to do; add a new task for what is.',
    });
  switch (standing(leaseOf(row), holder.keys, fence)) {
    case 'holds':
      return undefined;
    case 'free':
      return new PolyError('not_claimed', `nobody holds ${id}.`, { hint: 'Claim it first.' });
    case 'ended':
      return new PolyError('lease_lost', `your claim of ${id} has run out or was given back.`, {
        hint: 'Claim it again, and look whether your work still fits.',
      });
    case 'other':
      return new PolyError('not_owner', `${owner_name} holds ${id}, and not you.`, {
        hint: `Ask ${owner_name}, or let your user reassign it.`,
        details: { owner: owner_name, owner_id: owner },
      });
    case 'superseded':
      return new PolyError(
        'lease_lost',
        `${id} was claimed again since: its fence is ${row.fence}, not ${fence}.`,
        { hint: 'Another of your connections claimed it; only one should go on.' },
      );
  }
}

/** An agent works in the project it has registered in, wherever it heard of a task. */
export function refuseForeign({ id, project, project_key }: TaskRow, holder: Holder): void {
  if (holder.project === undefined || foldName(holder.project) === project_key) return;
  throw new PolyError(
    'forbidden',
    `${id} is a task of the project "${project}", and you are in "${holder.project}".`,
    {
      hint: `Write to an agent of "${project}", or let your user have you register there.`,
      details: { reason: 'other_project', project },
    },
  );
}

export function alreadyClaimed({ id, owner, owner_name, lease_until }: TaskRow): PolyError {
  const until = lease_until === null ? '' : ` until ${isoTime(lease_until)}`;
  return new PolyError('already_claimed', `${owner_name} holds ${id}${until}.`, {
    hint: 'Take another: poly task list --ready shows those that can be claimed.',
    details: { owner: owner_name, owner_id: owner },
  });
}

export function dependenciesPending(id: string, waits: readonly string[]): PolyError {
  return new PolyError('dependencies_pending', `${id} waits for ${waits.join(', ')}.`, {
    hint: 'Those must be completed first: poly task list --ready shows what can be claimed now.',
    details: { waits_for: waits },
  });
}

export function staleContract(id: string, stale: readonly TaskContract[]): PolyError {
  const which = stale
    .map(({ name, version, current }) => `${name} (built on version ${version}, now ${current})`)
    .join(', ');
  const [{ name = '', version = 0, current = 0 } = {}] = stale;
  return new PolyError('stale_contract', `${id} is built on a contract that has changed: ${which}.`, {
    hint: `Look at what changed with poly contract diff ${name} ${version} ${current}, change your work, acknowledge it with poly contract ack ${name}, and complete the task then.`,
    details: { stale },
  });
}
