import { inspect } from 'node:util';
import { type Action, type ErrorInfo, PolyError, readGiven } from '@polyphony/protocol';
import { type Draft, draft, type EventLog, type Source } from '../events/event-log.ts';
import type { Handlers, Told } from '../events/handlers.ts';
import type { Clock } from '../platform/clock.ts';
import type { Log } from '../platform/log.ts';
import { Turns } from '../platform/turns.ts';
import { StoreError } from '../store/errors.ts';
import type { Statement, Store } from '../store/store.ts';
import type { Allowance } from './allowance.ts';
import { type Ask, type Asker, type Question, Undecided } from './ask.ts';
import { askableScopes, type Caller, nameOf } from './caller.ts';
import { type Answer, isUsedKey, keyedCall, ownerOf } from './idempotency.ts';
import type { Commit, Registered, Registry } from './registry.ts';

/** Runs an action for a caller: the one way in, whichever door the request came through. */
export type Dispatch = (name: string, params: unknown, request: Asker) => Promise<unknown>;

export interface Permissions {
  readonly registry: Registry;
  /** Whether a caller may act on the pane that the parameters name: throws, or says what the user is to be asked. */
  readonly permitPane: (
    caller: Caller,
    action: Action,
    params: { readonly paneId: string },
  ) => Question | undefined;
  readonly ask: Ask;
  /** What is asked for as this caller may ask for it; throws where it may not. */
  readonly confine: (caller: Caller, action: Action, given: unknown) => unknown;
}

export interface DispatchOptions extends Permissions {
  readonly allowance: Allowance;
  readonly events: EventLog;
  readonly handlers: Handlers;
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Log;
  /** What is looked at once more before it happens, and not of a repeat: throws where it may not. */
  readonly admit: (caller: Caller, action: Action, params: unknown) => Promise<void>;
}

/** identify (the edges do) → permit → validate → idempotency → ask → veto → run → log */
export function createDispatch(options: DispatchOptions): Dispatch {
  const { clock, store } = options;
  /** Of keyed calls: a repeat waits for the first. */
  const turns = new Turns();

  return async (name, given, request) => {
    const { caller, idempotencyKey } = request;
    const { action, execute, params, question } = permitCall(options, name, given, caller);

    const run = (context: Run) =>
      (action.oneStep ? runOneStep : runAction)(
        options,
        action,
        params,
        (commit) => execute(params, { ...request, log: options.log, commit }),
        {
          ...context,
          // A repeat of a call that was allowed does not ask again.
          permit: async () => {
            await request.check?.();
            await options.admit(caller, action, params);
            if (question) await options.ask(question, request);
          },
        },
      );
    if (action.effect === 'read') return unwrap(await run({ caller, logged: false }));
    if (idempotencyKey === undefined) return unwrap(await run({ caller, logged: true }));

    const call = keyedCall(caller, idempotencyKey, name, given, clock.now());
    const place = `${ownerOf(caller)}\n${idempotencyKey}`;
    return turns.take(place, async () => {
      // What is one step marks its key with what it changes, and a repeat may find nothing left to change.
      if (action.oneStep && (await call.isUsed(store))) return unwrap(await call.recall(store));
      try {
        return unwrap(await run({ caller, logged: true, begin: call.begin, end: call.end }));
      } catch (error) {
        if (error instanceof UsedKey || isUsedKey(error)) return unwrap(await call.recall(store));
        throw error;
      }
    });
  };
}

/** Whether a caller may do this with these parameters; throws when not, and says what the user is to be asked. */
export function permitCall(
  { registry, permitPane, confine }: Omit<Permissions, 'ask'>,
  name: string,
  given: unknown,
  caller: Caller,
): Registered & { readonly params: unknown; readonly question?: Question | undefined } {
  const registered = registry.get(name);
  const { action } = registered;
  permitScope(action, caller);
  const params = validate(action, confine(caller, action, given));
  const question = action.onPane
    ? permitPane(caller, action, params as { readonly paneId: string })
    : grantOf(action, params, caller);
  return { ...registered, params, question };
}

/** What a scope that the caller does not hold, and may ask for, has the user asked. */
function grantOf({ name, scope }: Action, params: unknown, caller: Caller): Question | undefined {
  if (caller.scopes.has(scope)) return undefined;
  return {
    kind: 'extension',
    action: name,
    text: JSON.stringify(params),
    reason: `${name} needs the scope ${scope}, which panes are given call by call`,
    refusal: `${nameOf(caller)} may not run ${name}`,
    holds: () => true,
  };
}

interface Run {
  readonly caller: Caller;
  readonly logged: boolean;
  readonly begin?: Statement;
  readonly end?: (answer: Answer) => Statement;
}

type Permitted = Run & { readonly permit: () => Promise<void> };

async function runAction(
  { allowance, events, handlers, clock, log }: DispatchOptions,
  action: Action,
  params: unknown,
  execute: (commit: Commit) => unknown,
  { caller, logged, begin, end, permit }: Permitted,
): Promise<Answer> {
  const shown = { actionName: action.name, params: redact(params, action.secrets) };
  if (logged) allowance.take(caller, shown, 2); // When it begins, and when it ends.
  const from = sourceOf(caller);
  const start = draft(from, 'action:start', shown);
  // Written before anything happens: a used key or a full disk leaves everything as it was.
  if (logged) await events.append([start], begin ? [begin] : [], action);
  const answer = await settle(action, log, async () => {
    await permit();
    await askHandlers(handlers, action, told(start, clock));
    return execute(({ statements, drafts = [] }) => events.append(drafts, statements));
  });
  const closing = closingOf(from, shown, answer, action);
  if (logged) allowance.charge(caller, answer, end ? 2 : 1); // In the log, and beside its key.
  if (logged) await events.append([closing], end ? [end(answer)] : [], action);
  else handlers.tell(told(closing, clock));
  return answer;
}

/** What it does, that it was asked for and how it ended are one commit; what changes nothing leaves no trace. */
async function runOneStep(
  { allowance, events, handlers, clock, log }: DispatchOptions,
  action: Action,
  params: unknown,
  execute: (commit: Commit) => unknown,
  { caller, begin, end, permit }: Permitted,
): Promise<Answer> {
  const shown = { actionName: action.name, params: redact(params, action.secrets) };
  allowance.take(caller, params); // With what the log does not show: it is kept elsewhere.
  const from = sourceOf(caller);
  const start = draft(from, 'action:start', shown);
  let isWritten = false;
  const commit: Commit = async ({ statements = [], drafts = [], result, kept = result }) => {
    const closing = closingOf(from, shown, { result }, action);
    const ends = end ? [end({ result: kept })] : [];
    const begins = begin ? [begin] : [];
    try {
      const written = await events.append(
        [start, ...drafts, closing],
        [...begins, ...statements, ...ends],
        action,
      );
      isWritten = true;
      return {
        results: written.results.slice(begins.length, written.results.length - ends.length),
        events: written.events.slice(1, -1),
      };
    } catch (error) {
      throw begin && isUsedKey(error) ? new UsedKey(error) : error;
    }
  };
  const answer = await settle(action, log, async () => {
    await permit();
    await askHandlers(handlers, action, told(start, clock));
    return execute(commit);
  });
  if (isWritten) return answer;
  const closing = closingOf(from, shown, answer, action);
  // A call that was refused has not used its key.
  if ('error' in answer) await events.append([start, closing], [], action);
  else handlers.tell(told(closing, clock));
  return answer;
}

/** Thrown through an action, whatever it catches of the store: its call was made before. */
class UsedKey extends Error {
  constructor(cause: unknown) {
    super('the key was used before', { cause });
  }
}

async function askHandlers(handlers: Handlers, action: Action, start: Told): Promise<void> {
  const veto = await handlers.ask(start);
  if (!veto) return;
  const why = veto.reason ? `: ${veto.reason}` : '.';
  throw new PolyError('vetoed', `${action.name} was cancelled by ${veto.source}${why}`, {
    details: { by: veto.source },
  });
}

function closingOf(
  from: Source,
  shown: { readonly actionName: string; readonly params: unknown },
  answer: Answer,
  { secrets }: Action,
): Draft {
  return 'error' in answer
    ? draft(from, 'action:error', { ...shown, errorInfo: answer.error })
    : draft(from, 'action:success', {
        ...shown,
        result: secrets ? redact(answer.result, secrets) : answer.result,
      });
}

async function settle(action: Action, log: Log, work: () => Promise<unknown>): Promise<Answer> {
  try {
    return { result: (await work()) ?? {} };
  } catch (error) {
    if (error instanceof UsedKey) throw error;
    if (error instanceof Undecided) return { error: error.info, undecided: true };
    if (error instanceof PolyError) return { error: error.info };
    // Whatever was given that has one, and whichever part of it that was.
    if (error instanceof StoreError && error.code === 'unstorable')
      return {
        error: {
          code: 'invalid_arguments',
          message: `${action.name}: no text may hold a NUL.`,
          hint: error.hint,
        },
      };
    log.error(`${action.name} failed`, { error });
    const message = error instanceof Error ? error.message : inspect(error);
    return { error: { code: 'action_failed', message: `${action.name} failed: ${message}` } };
  }
}

function unwrap(answer: Answer): unknown {
  if ('error' in answer) throw PolyError.from(answer.error as ErrorInfo);
  return answer.result;
}

function permitScope({ name, scope, onPane }: Action, caller: Caller): void {
  if (caller.scopes.has(scope) || (caller.pane !== undefined && !onPane && askableScopes.has(scope))) return;
  throw new PolyError('forbidden', `${nameOf(caller)} may not run ${name}: it needs the scope ${scope}.`, {
    hint: 'The user decides: run it outside a pane, with the user’s own credential.',
  });
}

function validate({ name, params, secrets }: Action, given: unknown): unknown {
  return readGiven(params, given, {
    what: name,
    hint: `poly action ${name} --help shows what it takes.`,
    secrets,
  });
}

/** What the log may show of parameters: no secrets, and no passwords inside addresses. */
function redact(shown: unknown, secrets: readonly string[] = []): unknown {
  if (typeof shown === 'string')
    return shown.includes('//') ? shown.replace(passwordInAddress, '//[redacted]@') : shown;
  if (typeof shown !== 'object' || shown === null) return shown;
  if (Array.isArray(shown)) return shown.map((one) => redact(one, secrets));
  return Object.fromEntries(
    Object.entries(shown).map(([name, value]) => [
      name,
      secrets.includes(name) ? '[redacted]' : redact(value, secrets),
    ]),
  );
}

const passwordInAddress = /\/\/[^/\s:@]*:[^/\s@]+@/g;

const sourceOf = ({ participant, pane }: Caller): Source => ({ participant, ...(pane && { pane }) });

function told({ event, payload, from }: Draft, clock: Clock): Told {
  return { event, payload, source: from.participant, ...(from.pane && { pane: from.pane }), at: clock.now() };
}
