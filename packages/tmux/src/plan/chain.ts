import * as z from 'zod';
import { TmuxError } from '../errors.ts';
import { readGiven } from '../operation/given.ts';
import { type Operation, requireOperation } from '../operation/operation.ts';
import { operations, type Registry } from '../registry.ts';

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
  for (const operation of operations) requireOperation(operation);
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

/**
 * Builds a chain back from its JSON, validating every operation anew.
 *
 * @example
 * const stored = JSON.stringify(chain(killPane({ target: '%1' })));
 * chainFromJSON(JSON.parse(stored)).operations.length; // 1
 */
export function chainFromJSON(json: unknown, registry: Registry = operations): Chain {
  const { operations: line } = readGiven(chainJson, json, 'A chain is { operations: [{ kind, params }, …] }');
  return chain(...line.map((operation) => registry.parse(operation)));
}
