import type { AsyncLocalStorage } from 'node:async_hooks';
import { inspect } from 'node:util';
import {
  defineAction,
  type Effect,
  inWords,
  jsonSchemaOf,
  nothing,
  type Participant,
  PolyError,
  problemsOf,
  refusedEventName,
  sayProblems,
} from '@polyphony/protocol';
import * as z from 'zod';
import type { EventLog } from '../events/event-log.ts';
import type { Handlers, Told } from '../events/handlers.ts';
import type { Clock } from '../platform/clock.ts';
import type { Log } from '../platform/log.ts';
import { allScopes, type Caller } from '../registry/caller.ts';
import type { Dispatch } from '../registry/dispatch.ts';
import type { Registry } from '../registry/registry.ts';
import type { ExtensionAction, ExtensionAPI, ExtensionContext, Logger } from './api.ts';

/** One loading of an extension, to tell it from others and from the next. */
export interface Life {
  /** What it threw where nobody could catch it. */
  failed?: string;
}

/** What led to the code that runs: how to tell that extensions go round in circles, and whose fault something is. */
export interface Cause {
  /** Whose code it is; the hub's own when absent. */
  readonly life?: Life;
  /** So many actions were run by extensions inside each other. */
  readonly depth: number;
  /** Whether a handler was called on the way. */
  readonly handling: boolean;
}

export interface Surroundings {
  readonly registry: Registry;
  readonly handlers: Handlers;
  readonly events: EventLog;
  readonly dispatch: Dispatch;
  readonly log: Log;
  readonly clock: Clock;
  readonly cwd: string;
  readonly causes: AsyncLocalStorage<Cause>;
  readonly life: Life;
  /** Told once when handlers have hung so often that the extension must end. */
  readonly onHanging: (error: string) => void;
}

export interface RunningExtension {
  readonly poly: ExtensionAPI;
  /** Takes back all that the extension has registered; what it calls afterwards is refused. */
  close(): void;
}

/** Nothing led to it but the hub. */
export const ownAccord: Cause = { depth: 0, handling: false };

const deepest = 8;
/** So many actions and events a minute may an extension's handlers cause: more is a circle of handlers. */
const mostReactions = 1000;
const mostHangs = 3;
const minuteMs = 60_000;
const effects: readonly Effect[] = ['read', 'write', 'destructive'];

/** Who an extension is to others; it has no pane, so that no program in a pane can pass for it. */
const participantOfExtension = (name: string): Participant => `agent:extension.${name}`;

export function runExtension(name: string, surroundings: Surroundings): RunningExtension {
  const { registry, handlers, events, dispatch, log, clock, cwd, causes, life } = surroundings;
  const end = new AbortController();
  const logger = loggerOf(name, log);
  const caller: Caller = { participant: participantOfExtension(name), scopes: allScopes };
  const reactions = new Window(clock);
  const hangs = new Window(clock);

  /** A signal of the extension's own: whoever aborts must not be blamed for what its listeners throw. */
  const relay = (...signals: AbortSignal[]): AbortSignal => {
    const own = new AbortController();
    const any = AbortSignal.any(signals);
    const abort = (): void => causes.run({ ...ownAccord, life }, () => own.abort(any.reason));
    if (any.aborted) abort();
    else any.addEventListener('abort', abort);
    return own.signal;
  };
  const alive = (): void => {
    if (end.signal.aborted)
      throw new PolyError('stopping', `the extension ${name} has been unloaded: it can do nothing more.`);
  };
  const react = (): void => {
    if (causes.getStore()?.handling && reactions.add() > mostReactions)
      throw new PolyError(
        'too_many_requests',
        `the handlers of ${name} caused more than ${mostReactions} actions and events within a minute.`,
        { hint: 'Look whether a handler causes the event it listens to.' },
      );
  };
  /** Somebody who does not await it must not end the hub by that. */
  const owned = <T>(what: string, work: Promise<T>): Promise<T> => {
    work.catch((error: unknown) => logger.warn(`${what} failed`, { error: messageOf(error) }));
    return work;
  };

  async function emit(event: string, payload: unknown): Promise<void> {
    alive();
    react();
    const full = `${name}:${event}`;
    const refusal = refusedEventName(full);
    if (refusal) throw new PolyError('invalid_arguments', refusal);
    const draft = {
      event: full,
      payload: plain(payload, `the payload of ${full}`) ?? {},
      from: { participant: caller.participant },
    };
    await causes.run(ownAccord, () => events.append([draft]));
  }

  async function executeAction(action: string, params: unknown): Promise<unknown> {
    alive();
    react();
    const { depth, handling } = causes.getStore() ?? ownAccord;
    if (depth >= deepest)
      throw new PolyError(
        'conflict',
        `${name} runs ${action} ${deepest} actions deep: that looks like a circle.`,
        {
          hint: 'Look whether an action or a handler of action:start runs what leads back to itself.',
        },
      );
    return causes.run({ depth: depth + 1, handling }, () =>
      dispatch(action, plain(params, `what ${name} gave to ${action}`) ?? {}, {
        caller,
        signal: end.signal,
      }),
    );
  }

  function registerAction(given: ExtensionAction<never, unknown>): void {
    alive();
    const { parameters = nothing, result, scope = 'extensions:run', effect = 'write' } = given;
    if (typeof given.execute !== 'function')
      throw new TypeError(`the action ${given.name} has no execute function.`);
    if (!effects.includes(effect))
      throw new TypeError(`"${effect}" is no effect: say one of ${effects.join(', ')}.`);
    const action = defineAction<unknown, unknown>({
      name: `${name}:${given.name}`,
      summary: given.summary ?? `Runs ${given.name} of the extension ${name}.`,
      scope,
      effect,
      params: parameters,
      result: result ?? z.unknown(),
    });
    checkSchemas(action);
    registry.register(name, action, async (params, context) => {
      const ctx = contextOf(context.caller, relay(context.signal, end.signal));
      const answer = await causes.run({ ...(causes.getStore() ?? ownAccord), life }, async () => {
        try {
          return await given.execute(params as never, ctx);
        } catch (error) {
          throw asError(error);
        }
      });
      return plain(result ? await held(action.name, result, answer) : answer, `what ${action.name} answered`);
    });
  }

  function on(event: string, handler: (event: Told, ctx: ExtensionContext) => unknown): () => void {
    alive();
    if (typeof event !== 'string' || event.trim() === '' || typeof handler !== 'function')
      throw new TypeError(
        `${name} must say what it listens to and with which function: poly.on('pane:*', handler).`,
      );
    return handlers.on(name, event, (told, signal) => {
      // Events still in the queue of a handler that is gone.
      if (end.signal.aborted) return undefined;
      let ended = false;
      signal.addEventListener('abort', () => {
        if (ended || hangs.add() !== mostHangs) return;
        surroundings.onHanging(`its handlers hung ${mostHangs} times within a minute, last at ${told.event}`);
      });
      const { source, pane } = told;
      const ctx = contextOf({ participant: source, ...(pane !== undefined && { pane }) }, relay(signal));
      const { depth } = causes.getStore() ?? ownAccord;
      return causes.run({ depth, handling: true, life }, async () => {
        try {
          return await handler(structuredClone(told), ctx);
        } catch (error) {
          throw asError(error);
        } finally {
          ended = true;
        }
      });
    });
  }

  const contextOf = (
    { participant, pane }: Pick<Caller, 'participant' | 'pane'>,
    signal: AbortSignal,
  ): ExtensionContext => ({
    caller: { participant, ...(pane !== undefined && { pane }) },
    signal,
    logger,
  });

  return {
    poly: Object.freeze({
      cwd,
      signal: relay(end.signal),
      registerAction,
      on,
      emit: (event: string, payload?: unknown) => owned(`emit ${event}`, emit(event, payload)),
      executeAction: (action: string, params?: unknown) =>
        owned(`executeAction ${action}`, executeAction(action, params)),
    }) as ExtensionAPI,
    close() {
      registry.unregister(name);
      handlers.remove(name);
      end.abort();
    },
  };
}

/** How often something happened within the last minute. */
class Window {
  readonly #clock: Clock;
  #since = Number.NEGATIVE_INFINITY;
  #count = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  add(): number {
    const now = this.#clock.monotonic();
    if (now - this.#since > minuteMs) {
      this.#since = now;
      this.#count = 0;
    }
    return ++this.#count;
  }
}

/** Every face of an action derives from its schemas: one that cannot be shown would spoil the list for everybody. */
function checkSchemas({
  name,
  params,
  result,
}: {
  readonly name: string;
  readonly params: z.ZodType;
  readonly result: z.ZodType;
}): void {
  for (const [what, schema] of Object.entries({ parameters: params, result }))
    if (typeof schema.safeParse !== 'function')
      throw new TypeError(`the ${what} of ${name} are no zod schema.`);
  jsonSchemaOf(result, 'output');
  const { type, anyOf, oneOf, allOf } = jsonSchemaOf(params, 'input');
  if (type !== 'object' && !anyOf && !oneOf && !allOf)
    throw new TypeError(`the parameters of ${name} must be an object: z.strictObject({ … }).`);
}

async function held(name: string, schema: z.ZodType, answer: unknown): Promise<unknown> {
  const parsed = await schema.safeParseAsync(answer, { error: inWords });
  if (parsed.success) return parsed.data;
  const problems = sayProblems(problemsOf(parsed.error, answer));
  throw new PolyError('action_failed', `${name} answered something else than it declares: ${problems}`);
}

/** A copy that JSON can carry. */
function plain(value: unknown, what: string): unknown {
  try {
    const text = JSON.stringify(value);
    return text === undefined ? undefined : JSON.parse(text);
  } catch (cause) {
    throw new PolyError('invalid_arguments', `${what} cannot be written as JSON: ${messageOf(cause)}.`, {
      cause,
    });
  }
}

/** Never throws: a line that cannot be written must not end whoever wrote it. */
function loggerOf(extension: string, log: Log): Logger {
  const write = (level: keyof Logger) => (message: string, fields?: object) => {
    try {
      log[level](message, { extension, ...(fields && { fields }) });
    } catch (error) {
      log[level](`${extension} wrote a line that JSON cannot carry`, { error: messageOf(error) });
    }
  };
  return { info: write('info'), warn: write('warn'), error: write('error') };
}

/** Anything can be thrown, also what cannot be made a string. */
export const messageOf = (error: unknown): string =>
  error instanceof Error ? error.message : inspect(error);

const asError = (error: unknown): Error => (error instanceof Error ? error : new Error(messageOf(error)));
