import { z } from 'zod';
import { TmuxError } from '../errors.ts';
import type { Operation } from '../operation/operation.ts';
import type { Registry } from '../registry.ts';

/** Operations that share one `;` line: tmux stops at the first that fails. Run with `executeChain`. */
export interface Chain {
  readonly operations: readonly Operation[];
}

/**
 * Puts operations on one line. Those that answer with more than "done" need a line of their own and are refused.
 *
 * @example await executeChain(engine, chain(selectPane({ target: '%1' }), killPane({ target: '%2' })).operations)
 */
export function chain(...operations: readonly Operation[]): Chain {
  if (operations.length === 0)
    throw new TmuxError('invalid_parameters', 'A chain needs at least one operation.');
  const alone = operations.find((operation) => !operation.chainable);
  if (alone) {
    const reason = `${alone.kind} cannot share a line: its answer could not be told from the others'`;
    throw new TmuxError('invalid_parameters', `${reason}. Run it by itself, or add it to a plan.`, {
      kind: alone.kind,
    });
  }
  return Object.freeze({ operations: Object.freeze([...operations]) });
}

const chainJson = z.strictObject({ operations: z.array(z.unknown()).min(1) });

/** Builds a chain back from its JSON, validating every operation anew. */
export function chainFromJSON(json: unknown, registry: Registry): Chain {
  const read = chainJson.safeParse(json);
  if (!read.success)
    throw new TmuxError('invalid_parameters', 'A chain is { operations: [{ kind, params }, …] }.', { json });
  return chain(...read.data.operations.map((operation) => registry.parse(operation)));
}
