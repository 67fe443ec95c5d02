import type {
  TaskClaimParams,
  TaskCompleteParams,
  TaskDone,
  TaskHeld,
  TaskHoldParams,
  TaskReleaseParams,
} from '@polyphony/protocol';
import { draft, type EventLog, type Source } from '../events/event-log.ts';
import type { Clock } from '../platform/clock.ts';
import { hasRunOut, take } from '../platform/lease.ts';
import type { Log } from '../platform/log.ts';
import type { Holder } from '../registry/holder.ts';
import type { Commit, Step } from '../registry/registry.ts';
import { isConflict } from '../store/errors.ts';
import { type Departure, heldAs, type LeaseEnd, Leases } from '../store/leases.ts';
import type { Condition, Statement, Store, Value } from '../store/store.ts';
import { alreadyClaimed, dependenciesPending, refusalOf, refuseForeign, staleContract } from './refusals.ts';
import { getTask, isoTime, leaseOf, staleOf, stillWaits, type TaskRow, waitsOf } from './task-row.ts';

export interface TaskClaimsOptions {
  readonly store: Store;
  readonly events: EventLog;
  readonly clock: Clock;
  readonly log: Log;
  /** Who tells that a claim has run out. */
  readonly hub: Source;
}

const defaultLeaseS = 3600;
const freed = `state = 'pending', owner = NULL, owner_name = NULL, owner_pane = NULL, lease_until = NULL`;

/**
 * Who does which task. Every change is one conditional write with its event: it is true for the row as it was read, or
 * it does not happen and the row is read again.
 */
export class TaskClaims {
  readonly #options: TaskClaimsOptions;
  readonly #leases: Leases<TaskRow>;

  constructor(options: TaskClaimsOptions) {
    this.#options = options;
    const { clock, store, log } = options;
    this.#leases = new Leases<TaskRow>({
      ...{ clock, store, table: 'tasks', held: `state = 'in_progress'` },
      ...{ holder: 'owner', pane: 'owner_pane', until: 'lease_until' },
      end: (row, reason) => this.#end(row, reason),
      onError: (error) => log.error('claims of tasks that ran out could not be ended', { error }),
    });
  }

  /** Lets claims run out from now on; those of panes that ended meanwhile at once. */
  start(isGone: (pane: string, owner: string) => boolean): Promise<void> {
    return this.#leases.start(isGone);
  }

  /** Gives back what somebody held who is gone. */
  leave(departure: Departure): Promise<void> {
    return this.#leases.leave(departure);
  }

  claim(holder: Holder, { task_id: id, lease_s }: TaskClaimParams, commit: Commit): Promise<TaskHeld> {
    return this.#again(id, async (row) => {
      refuseForeign(row, holder);
      if (row.state === 'completed') throw refusalOf(row, holder, undefined);
      if (row.state === 'in_progress') {
        if (!hasRunOut(leaseOf(row), this.#options.clock.now())) throw alreadyClaimed(row);
        await this.#leases.end(row, 'lease');
        return undefined;
      }
      await this.#refuseWaiting(row);
      return this.#take(row, holder, lease_s, commit);
    });
  }

  /** From whoever holds it, or from nobody, to another. */
  reassign(
    holder: Holder,
    to: (project: string) => Holder,
    { task_id: id, fence, lease_s }: TaskHoldParams,
    commit: Commit,
  ): Promise<TaskHeld> {
    return this.#again(id, async (row) => {
      refuseForeign(row, holder);
      const refusal = refusalOf(row, holder, fence);
      if (refusal && !(refusal.code === 'not_owner' && holder.isUser) && refusal.code !== 'not_claimed')
        throw refusal;
      await this.#refuseWaiting(row);
      return this.#take(row, to(row.project), lease_s, commit, holder);
    });
  }

  heartbeat(
    holder: Holder,
    { task_id: id, fence, lease_s }: TaskHoldParams,
    commit: Commit,
  ): Promise<TaskHeld> {
    return this.#again(id, async (row) => {
      const refusal = refusalOf(row, holder, fence);
      if (refusal) throw refusal;
      const until = this.#until(lease_s);
      const result = await this.#held(row, row.owner_name ?? holder.participant, row.fence, until);
      const renew = changed(row, 'lease_until = ?', [until]);
      await this.#write({ statements: [renew], result }, commit);
      return result;
    });
  }

  release(holder: Holder, { task_id: id, fence }: TaskReleaseParams, commit: Commit): Promise<TaskDone> {
    return this.#again(id, async (row) => {
      const refusal = refusalOf(row, holder, fence);
      if (refusal && !(refusal.code === 'not_owner' && holder.isUser)) throw refusal;
      const result: TaskDone = { ok: true, task_id: id };
      const told = draft(holder.source, 'task:released', holding(row));
      await this.#write({ statements: [changed(row, freed)], drafts: [told], result }, commit);
      return result;
    });
  }

  complete(holder: Holder, params: TaskCompleteParams, commit: Commit): Promise<TaskDone> {
    const { task_id: id, fence, result: outcome } = params;
    return this.#again(id, async (row) => {
      const { store, clock } = this.#options;
      const refusal = refusalOf(row, holder, fence);
      if (refusal) throw refusal;
      const stale = await staleOf(store, id);
      if (stale.length > 0) throw staleContract(id, stale);
      const result: TaskDone = { ok: true, task_id: id };
      const kept = outcome === undefined ? null : JSON.stringify(outcome);
      const finish = changed(
        row,
        `state = 'completed', lease_until = NULL, result = ?, completed_at = ?`,
        [kept, clock.now()],
        {
          sql: 'NOT EXISTS (SELECT 1 FROM task_contracts c WHERE c.task = tasks.id AND c.current > c.built_on)',
          values: [],
        },
      );
      const told = draft(holder.source, 'task:completed', holding(row));
      await this.#write({ statements: [finish], drafts: [told], result }, commit);
      return result;
    });
  }

  close(): Promise<void> {
    return this.#leases.close();
  }

  async #refuseWaiting({ id }: TaskRow): Promise<void> {
    const waits = await waitsOf(this.#options.store, id);
    if (waits.length > 0) throw dependenciesPending(id, waits);
  }

  async #take(
    row: TaskRow,
    owner: Holder,
    leaseS: number | undefined,
    commit: Commit,
    by?: Holder,
  ): Promise<TaskHeld> {
    const until = this.#until(leaseS);
    const { fence } = take(leaseOf(row), owner.key, until);
    const result = await this.#held(row, owner.participant, fence, until);
    const told = { ...holding(row), owner: owner.participant, fence, leaseUntil: isoTime(until) };
    const taken = changed(
      row,
      `state = 'in_progress', owner = ?, owner_name = ?, owner_pane = ?, fence = ?, lease_until = ?`,
      [owner.key, owner.participant, owner.pane, fence, until],
      { sql: `NOT ${stillWaits}`, values: [] },
    );
    const event = by
      ? draft(by.source, 'task:reassigned', { ...told, from: row.owner_name })
      : draft(owner.source, 'task:claimed', told);
    await this.#write({ statements: [taken], drafts: [event], result }, commit);
    return result;
  }

  async #held({ id }: TaskRow, owner: string, fence: number, until: number): Promise<TaskHeld> {
    const stale = await staleOf(this.#options.store, id);
    return { ok: true, task_id: id, owner, fence, lease_until: isoTime(until), stale };
  }

  #until(leaseS = defaultLeaseS): number {
    return this.#options.clock.now() + leaseS * 1000;
  }

  async #write(step: Step, commit: Commit): Promise<void> {
    await commit(step);
    this.#leases.plan();
  }

  /** Reads and writes until both fit, or reading says why not. */
  async #again<T>(id: string, attempt: (row: TaskRow) => Promise<T | undefined>): Promise<T> {
    for (;;) {
      const row = await getTask(this.#options.store, id);
      try {
        const done = await attempt(row);
        if (done !== undefined) return done;
      } catch (error) {
        if (!isConflict(error)) throw error;
      }
    }
  }

  #end(row: TaskRow, reason: LeaseEnd): Promise<unknown> {
    const { events, clock, hub } = this.#options;
    const over: Condition = { sql: 'lease_until <= ?', values: [clock.now()] };
    const freeing = changed(row, freed, [], reason === 'lease' ? over : undefined);
    const told = draft(hub, 'task:expired', { ...holding(row), reason });
    return events.append([told], [freeing], { onFullDisk: true });
  }
}

/** A change of the row as it was read, and of no other. */
function changed(
  row: TaskRow,
  set: string,
  values: readonly Value[] = [],
  also: Condition = { sql: '1 = 1', values: [] },
): Statement {
  const same = heldAs(leaseOf(row), { holder: 'owner', fence: 'fence' });
  return {
    sql: `UPDATE tasks SET ${set} WHERE id = ? AND state = ? AND ${same.sql} AND ${also.sql}`,
    values: [...values, row.id, row.state, ...same.values, ...also.values],
    expect: 1,
  };
}

const holding = ({ id, project, owner, owner_name, fence }: TaskRow) => ({
  ...{ taskId: id, project, fence },
  owner: owner_name ?? owner ?? '',
});
