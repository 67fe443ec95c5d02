import type {
  ActionName,
  BuiltInEventName,
  BuiltInEvents,
  Effect,
  ParamsOf,
  Participant,
  PolyEvent,
  ResultOf,
  Scope,
} from '@polyphony/protocol';
import type * as z from 'zod';
import type { Veto } from '../events/handlers.ts';

export type { Veto };

/** What an extension exports as its default; it has some seconds to come to an end. */
export type Extension = (poly: ExtensionAPI) => void | Promise<void>;

/** What the hub gives an extension. All of it is JSON on its way in and out: nobody shares an object with the hub. */
export interface ExtensionAPI {
  /** The folder the hub runs in. */
  readonly cwd: string;
  /** Fires when the extension is removed, loaded anew or the hub stops: end timers and connections then. */
  readonly signal: AbortSignal;
  /** Adds the action `<extension>:<name>`. */
  registerAction<Params = Record<string, never>, Result = unknown>(
    action: ExtensionAction<Params, Result>,
  ): void;
  /**
   * Listens to an exact name, `prefix:*` or `*`, several with commas between; answers what ends the listening.
   * A handler of `action:start` may answer `{ cancel: true, reason }`. One that throws or outlives its time is told
   * as `handler:error`; three that hang within a minute end the extension.
   */
  on(event: 'action:start', handler: ExtensionHandler<'action:start', VetoAnswer>): () => void;
  on<const Name extends string>(
    event: Name extends 'action:start' ? never : Name,
    handler: ExtensionHandler<Name, unknown>,
  ): () => void;
  /** Tells the event `<extension>:<event>`; settles when it is in the log. */
  emit(event: string, payload?: unknown): Promise<void>;
  /** Runs any action as this extension, with the rights of the user; fails with the action's own error. */
  executeAction<const Name extends ActionName | (string & {})>(
    name: Name,
    ...params: ExecuteParams<Name>
  ): Promise<Name extends ActionName ? ResultOf<Name> : unknown>;
}

export interface ExtensionAction<Params, Result> {
  /** Lower case, for example `hello`. */
  readonly name: string;
  /** One sentence: what it does. */
  readonly summary?: string;
  /** A zod object; takes nothing when left out. */
  readonly parameters?: z.ZodType<Params>;
  /** What it answers, held to at every call. */
  readonly result?: z.ZodType<Result>;
  /** What a caller's credential must hold; `extensions:run` when left out, which programs in panes have too. */
  readonly scope?: Scope;
  /** `write` when left out; what only reads is not written to the log. */
  readonly effect?: Effect;
  execute(params: Params, ctx: ExtensionContext): Result | Promise<Result>;
}

export interface ExtensionContext {
  /** Who asked, or who caused the event, as the hub knows it. */
  readonly caller: { readonly participant: Participant; readonly pane?: string };
  /** Fires when nobody waits any more. */
  readonly signal: AbortSignal;
  readonly logger: Logger;
}

/** Writes to the hub's log, under the extension's name. */
export interface Logger {
  info(message: string, fields?: object): void;
  warn(message: string, fields?: object): void;
  error(message: string, fields?: object): void;
}

/** An event; what is never logged (the start of every action, all of what only reads) has no `seq`. */
export type ExtensionEvent<Payload = unknown> = Omit<PolyEvent<Payload>, 'seq'> & { readonly seq?: number };

export type ExtensionHandler<Name extends string, Answer> = (
  event: ExtensionEvent<Name extends BuiltInEventName ? BuiltInEvents[Name] : unknown>,
  ctx: ExtensionContext,
) => Answer;

export type VetoAnswer = Veto | undefined | Promise<Veto | undefined>;

type ExecuteParams<Name extends string> = Name extends ActionName
  ? Record<string, never> extends ParamsOf<Name>
    ? [params?: ParamsOf<Name>]
    : [params: ParamsOf<Name>]
  : [params?: unknown];
