import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Scope } from '@polyphony/protocol';
import type * as z from 'zod';
import type { Caller } from '../registry/caller.ts';

/** A request of which nobody has asked yet who sends it. */
interface OpenCall {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly url: URL;
  readonly signal: AbortSignal;
  /** The first part of the path that is a name. */
  readonly name: string;
  /** All of them, in their order. */
  readonly names: readonly string[];
}

export interface Call extends OpenCall {
  readonly caller: Caller;
}

export interface RouteInfo {
  readonly method: 'GET' | 'POST' | 'DELETE';
  /** Literal, but for parts that are a `:name`; never the first. */
  readonly path: string;
  readonly summary: string;
  /** What the caller must hold; `action` leaves it to the action, `any` takes every credential, `open` asks for none. */
  readonly scope: Scope | 'action' | 'any' | 'open';
  /** How success is answered; 200 when left out. */
  readonly status?: 101 | 201;
  /** Who may not come in is answered with a status alone: a body would be read as a message of its protocol. */
  readonly refusesSilently?: true;
  /** What its query may hold, and why. */
  readonly query?: Readonly<Record<string, string>>;
  /** Whether it heeds an `Idempotency-Key`. */
  readonly keyed?: true;
  /** The schema of its JSON body. */
  readonly body?: z.ZodType;
}

/** Answers a value to send as JSON, or undefined when it has answered by itself. */
export interface Route extends RouteInfo {
  readonly scope: Exclude<RouteInfo['scope'], 'open'>;
  handle(call: Call): unknown;
}

/** Behind the gate like every other, but for those who have no credential yet. */
export interface OpenRoute extends RouteInfo {
  readonly scope: 'open';
  handle(call: OpenCall): unknown;
}

interface Pattern<R> {
  readonly parts: readonly string[];
  readonly methods: Map<string, R>;
}

/** Finds routes by path, then by method; one without a scope does not register. */
export class RouteTable<R extends RouteInfo> {
  /** By how many parts they have and the first of them, which is literal; those with the fewest names go first. */
  readonly #patterns = new Map<string, Pattern<R>[]>();

  constructor(routes: readonly R[]) {
    for (const route of routes) {
      if (!route.scope) throw new TypeError(`${route.method} ${route.path} has no scope.`);
      const parts = route.path.replace(/:\w+/g, '*').split('/');
      const alike = this.#patterns.get(keyOf(parts)) ?? [];
      const same = alike.find((one) => one.parts.join('/') === parts.join('/'));
      if (same) same.methods.set(route.method, route);
      else alike.push({ parts, methods: new Map([[route.method, route]]) });
      this.#patterns.set(
        keyOf(parts),
        alike.sort((a, b) => namesIn(a) - namesIn(b)),
      );
    }
  }

  /** The routes of a path by method, and the parts of it that are names; what is literal goes first. */
  find(
    pathname: string,
  ): { readonly methods: ReadonlyMap<string, R>; readonly names: readonly string[] } | undefined {
    const given = pathname.split('/');
    const pattern = this.#patterns
      .get(keyOf(given))
      ?.find(({ parts }) =>
        parts.every((part, index) => part === given[index] || (part === '*' && given[index] !== '')),
      );
    if (!pattern) return undefined;
    const names = given.filter((_, index) => pattern.parts[index] === '*').map(decodeURIComponent);
    return { methods: pattern.methods, names };
  }
}

const keyOf = (parts: readonly string[]): string => `${parts.length} ${parts[1]}`;

const namesIn = ({ parts }: { readonly parts: readonly string[] }): number =>
  parts.filter((part) => part === '*').length;
