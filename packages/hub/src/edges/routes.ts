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
  /** The named part of the path. */
  readonly name: string;
}

export interface Call extends OpenCall {
  readonly caller: Caller;
}

export interface RouteInfo {
  readonly method: 'GET' | 'POST' | 'DELETE';
  /** Literal, but for one part that is a `:name`. */
  readonly path: string;
  readonly summary: string;
  /** What the caller must hold; `action` leaves it to the action, `any` takes every credential, `open` asks for none. */
  readonly scope: Scope | 'action' | 'any' | 'open';
  /** What its query may hold, and why. */
  readonly query?: Readonly<Record<string, string>>;
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

/** Finds routes by path, then by method; one without a scope does not register. */
export class RouteTable<R extends RouteInfo> {
  readonly #paths = new Map<string, Map<string, R>>();

  constructor(routes: readonly R[]) {
    for (const route of routes) {
      if (!route.scope) throw new TypeError(`${route.method} ${route.path} has no scope.`);
      const key = route.path.replace(/:\w+/, '*');
      const methods = this.#paths.get(key) ?? new Map<string, R>();
      this.#paths.set(key, methods.set(route.method, route));
    }
  }

  /** The routes of a path by method, and the part of it that is a name. */
  find(pathname: string): { readonly methods: ReadonlyMap<string, R>; readonly name: string } | undefined {
    const exact = this.#paths.get(pathname);
    if (exact) return { methods: exact, name: '' };
    const parts = pathname.split('/');
    for (const [index, name] of parts.entries()) {
      const methods = index > 1 && name !== '' && this.#paths.get(parts.with(index, '*').join('/'));
      if (methods) return { methods, name: decodeURIComponent(name) };
    }
    return undefined;
  }
}
