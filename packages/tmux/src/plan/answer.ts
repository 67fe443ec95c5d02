import { TmuxError } from '../errors.ts';
import type { Operation } from '../operation/operation.ts';
import { skippedReply } from '../operation/reply.ts';
import { Result } from '../operation/result.ts';
import type { TmuxVersion } from '../operation/version.ts';
import { failedCreate, type OperationResult } from './plan-result.ts';

/** One for each operation of a request, or one for a host step. `sent: false`: it cannot have happened. */
export type Answer =
  | { readonly result: Result }
  | { readonly value: unknown }
  | { readonly error: Error; readonly sent: boolean };

export function skipped(operation: Operation): { readonly result: Result } {
  return { result: new Result(operation, null, skippedReply, null) };
}

export function statusOf(answer: Answer | undefined): Result['status'] | undefined {
  return answer && 'result' in answer ? answer.result.status : undefined;
}

/** What became of a step, from the answer to its operation. */
export function toStep(
  index: number,
  operation: Operation,
  answer: Answer | undefined,
  version: TmuxVersion,
): OperationResult {
  if (answer && 'result' in answer) {
    const { result } = answer;
    const step: OperationResult = { type: 'operation', index, status: result.status, result };
    const lost = operation.spec.creates && result.status === 'failed';
    return lost ? { ...step, error: failedCreate(step) } : step;
  }
  const none = { error: new TmuxError('protocol', `${operation.kind} was not answered.`), sent: true };
  const { error, sent } = answer && 'error' in answer ? answer : none;
  const status = sent ? 'unknown' : 'failed';
  const reply = { status, stdout: '', stderr: error.message } as const;
  const result = new Result(operation, sent ? operation.render(version) : null, reply, null);
  return { type: 'operation', index, status, result, error };
}
