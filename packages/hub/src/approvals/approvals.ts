import { type Approval, type Decision, type Participant, PolyError } from '@polyphony/protocol';
import { draft, type EventLog, type Source } from '../events/event-log.ts';
import type { Clock } from '../platform/clock.ts';
import type { Log } from '../platform/log.ts';
import type { Random } from '../platform/random.ts';
import { Turns } from '../platform/turns.ts';
import { type Asker, grantHint, type Question, Undecided } from '../registry/ask.ts';
import { type Caller, isUser, sharersWith } from '../registry/caller.ts';
import { releaseKey } from '../registry/idempotency.ts';
import type { Store } from '../store/store.ts';
import { type Outcome, recall, settlement } from './settlement.ts';

export interface ApprovalsOptions {
  readonly store: Store;
  readonly events: EventLog;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  /** For how long an answer is waited for; with 0 nobody is asked. */
  readonly timeoutMs: number;
}

/** As it stands on the disk while it waits. */
interface KeptApproval extends Approval {
  readonly by: Participant;
  readonly idempotencyKey?: string | undefined;
  /** Of the pane that asks: the key is its own. */
  readonly birth?: string | undefined;
}

interface Pending {
  readonly approval: Approval;
  readonly end: (outcome: Outcome) => void;
}

/** So many calls of one family of panes may wait: none can bury the user in questions. */
const mostOfOneFamily = 16;
/** What is asked is shown whole, or not asked: nobody can judge what he cannot read. */
const mostShown = 64 * 1024;

/** Calls that wait for the user. Each is on the disk before it is shown, and ends once, whoever is first to end it. */
export class Approvals {
  readonly #options: ApprovalsOptions;
  readonly #pending = new Map<string, Pending>();
  /** Who waits, or is about to. */
  readonly #askers = new Set<{ readonly family: string | undefined }>();
  readonly #turns = new Turns();

  private constructor(options: ApprovalsOptions) {
    this.#options = options;
  }

  /** What an earlier hub left waiting is withdrawn: the connections of those who asked went with it. */
  static async open(options: ApprovalsOptions): Promise<Approvals> {
    const left = await options.store.query<{ readonly approval: string }>(
      `SELECT approval FROM approvals WHERE state = 'pending' ORDER BY created_at, id`,
    );
    for (const row of left) {
      const approval = JSON.parse(row.approval) as KeptApproval;
      const { by: participant, birth, idempotencyKey: key } = approval;
      const { told, statement } = settlement(approval, {
        state: 'withdrawn',
        reason: 'the hub ended while it waited',
      });
      const released = key === undefined ? [] : [releaseKey({ participant, birth }, key)];
      await options.events.append([told], [statement, ...released]);
    }
    return new Approvals(options);
  }

  /** What waits; for one who decides, only what that one is asked. */
  list(decider?: string): readonly Approval[] {
    const all = [...this.#pending.values()].map(({ approval }) => approval);
    return decider === undefined ? all : all.filter((one) => one.decider === decider);
  }

  /** Waits for the user's answer; throws unless it is yes and still about the same. */
  async ask(question: Question, { caller, signal, idempotencyKey, onAsked }: Asker): Promise<void> {
    if (this.#options.timeoutMs === 0)
      throw refused(question, 'that must be asked for, and config.toml lets nobody be asked');
    refuseUnreadable(question);
    const asker = { family: caller.family };
    const waiting = [...this.#askers].filter(({ family }) => family === asker.family).length;
    if (waiting >= mostOfOneFamily)
      throw new Undecided(
        'too_many_requests',
        `${waiting} calls of ${sharersWith(caller)} wait for the user already.`,
        {
          hint: 'Wait until some of them are answered.',
        },
      );
    this.#askers.add(asker);
    onAsked?.();
    try {
      const outcome = await this.#answer(question, { caller, signal, idempotencyKey });
      if (outcome.state !== 'allowed') throw refusalOf(question, outcome, this.#options.timeoutMs);
    } finally {
      this.#askers.delete(asker);
    }
    if (signal.aborted) throw refused(question, 'it was allowed when the caller had gone');
    if (!question.holds()) throw refused(question, 'it is no longer what was asked about', 'Ask again.');
  }

  /** The same decision again is fine; another one, or one that comes too late, is not. */
  async resolve(id: string, decision: Decision, by: Caller): Promise<void> {
    const asked = this.#pending.get(id)?.approval;
    if (asked ? !mayDecide(asked, by) : !isUser(by))
      throw new PolyError('forbidden', `${id} is not yours to decide.`, {
        hint: 'poly approvals ls shows what you are asked.',
      });
    const state = decision === 'allow' ? 'allowed' : 'denied';
    if (await this.#end(id, { state, by })) return;
    const past = await recall(this.#options.store, id);
    if (past?.state === state) return;
    if (!past)
      throw new PolyError('not_found', `there is no approval "${id}".`, {
        hint: 'poly approvals ls shows those that wait.',
      });
    const who = past.settled_by === null ? '' : ` by ${past.settled_by}`;
    throw new PolyError('conflict', `${id} ${pastStates[past.state]}${who}.`, {
      hint: 'Nothing happens because of it. Whoever needs it can ask again.',
    });
  }

  /** Nobody waits with a credential that is no longer good. */
  withdraw(pane: string): void {
    const outcome: Outcome = { state: 'withdrawn', reason: `${pane} was closed` };
    for (const approval of this.list())
      if (approval.pane === pane) this.#own(this.#end(approval.id, outcome));
  }

  /** Lets go of everybody who waits. */
  async close(): Promise<void> {
    const outcome: Outcome = { state: 'withdrawn', reason: 'the hub is stopping' };
    await Promise.all(this.list().map(({ id }) => this.#end(id, outcome)));
  }

  /** How the waiting ends: by an answer, by time, or because the caller goes. */
  async #answer(question: Question, { caller, signal, idempotencyKey }: Asker): Promise<Outcome> {
    const { id, ended } = await this.#request(question, caller, idempotencyKey);
    const end = (outcome: Outcome) => (): void => this.#own(this.#end(id, outcome));
    const leave = end({ state: 'withdrawn', reason: 'the caller has gone' });
    const timer = setTimeout(end({ state: 'expired' }), this.#options.timeoutMs);
    signal.addEventListener('abort', leave);
    if (signal.aborted) leave();
    try {
      return await ended;
    } finally {
      clearTimeout(timer);
      signal.removeEventListener('abort', leave);
    }
  }

  async #request(
    { refusal: _, holds: __, ...asked }: Question,
    { participant, pane, birth }: Caller,
    idempotencyKey: string | undefined,
  ): Promise<{ readonly id: string; readonly ended: Promise<Outcome> }> {
    const { clock, events, random, timeoutMs } = this.#options;
    const now = clock.now();
    const from: Source = { participant, ...(pane !== undefined && { pane }) };
    const approval: Approval = {
      id: `apr_${random.hex(4)}`,
      ...asked,
      by: participant,
      ...(pane !== undefined && { pane }),
      createdAt: new Date(now).toISOString(),
      expiresAt: new Date(now + timeoutMs).toISOString(),
    };
    const { id, kind, action, paneId, decider, reason, expiresAt } = approval;
    const { promise: ended, resolve: end } = Promise.withResolvers<Outcome>();
    // Whoever hears of it and answers at once has to wait for this turn.
    await this.#turns.take(id, async () => {
      const told = draft(from, 'approval:requested', {
        ...{ id, kind, action, paneId, reason, expiresAt },
        ...(decider !== undefined && { decider }),
      });
      const kept = {
        sql: `INSERT INTO approvals (id, state, approval, created_at) VALUES (?, 'pending', ?, ?)`,
        values: [id, JSON.stringify({ ...approval, idempotencyKey, birth }), now],
      };
      await events.append([told], [kept]);
      this.#pending.set(id, { approval, end });
    });
    return { id, ended };
  }

  /** Ends the waiting once that is on the disk; answers whether it was this that ended it. */
  #end(id: string, outcome: Outcome): Promise<boolean> {
    return this.#turns.take(id, async () => {
      const pending = this.#pending.get(id);
      if (!pending) return false;
      const { told, statement } = settlement(pending.approval, outcome);
      try {
        await this.#options.events.append([told], [statement]);
      } catch (error) {
        // A refusal needs no disk, a permission does.
        if (outcome.state === 'allowed') throw error;
        this.#options.log.error('how an approval ended could not be written', { id, error });
      }
      this.#pending.delete(id);
      pending.end(outcome);
      return true;
    });
  }

  /** Looks after work that nobody waits for. */
  #own(work: Promise<unknown>): void {
    work.catch((error: unknown) => this.#options.log.error('an approval could not be ended', { error }));
  }
}

/** Whoever is asked decides, and the user all but what the user asks of somebody else. */
function mayDecide({ decider, by }: Approval, caller: Caller): boolean {
  if (decider === caller.participant) return true;
  return isUser(caller) && (decider === undefined || by !== caller.participant);
}

function refuseUnreadable({ refusal, holds: _, ...asked }: Question): void {
  const bytes = Buffer.byteLength(JSON.stringify(asked));
  if (bytes <= mostShown) return;
  throw new Undecided(
    'too_large',
    `${refusal}: it is asked for with ${bytes} bytes, and at most ${mostShown} are shown to the user.`,
    { hint: 'Ask for it in smaller parts, or let a rule in config.toml allow it.' },
  );
}

const pastStates = {
  pending: 'was left behind',
  allowed: 'was allowed',
  denied: 'was denied',
  expired: 'has expired: nobody answered in time',
  withdrawn: 'was withdrawn: whoever asked has gone',
} as const;

function refused({ refusal }: Question, why: string, hint: string = grantHint): Undecided {
  return new Undecided('forbidden', `${refusal}: ${why}.`, { hint });
}

function refusalOf(question: Question, outcome: Outcome, timeoutMs: number): PolyError {
  switch (outcome.state) {
    case 'expired':
      return refused(
        question,
        `nobody answered within ${timeoutMs / 1000} seconds`,
        'Ask again when somebody looks: poly approvals ls shows what waits. A rule in config.toml needs nobody.',
      );
    case 'withdrawn':
      return refused(question, outcome.reason, 'Ask again.');
    default:
      return new PolyError('forbidden', `${question.refusal}: ${outcome.by.participant} denied it.`, {
        hint: grantHint,
      });
  }
}
