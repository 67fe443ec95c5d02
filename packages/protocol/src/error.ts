/** How an error is answered over HTTP, and with which code the command line ends. */
interface ErrorKind {
  readonly status: number;
  readonly exit: number;
  readonly meaning: string;
}

export type ErrorCode =
  | 'invalid_request'
  | 'unauthenticated'
  | 'forbidden'
  | 'vetoed'
  | 'not_found'
  | 'unknown_route'
  | 'unknown_action'
  | 'method_not_allowed'
  | 'timed_out'
  | 'conflict'
  | 'pane_exited'
  | 'not_owner'
  | 'already_claimed'
  | 'not_claimed'
  | 'already_completed'
  | 'dependencies_pending'
  | 'lease_lost'
  | 'stale_contract'
  | 'unavailable'
  | 'uncertain'
  | 'too_large'
  | 'unsupported_media_type'
  | 'spawn_failed'
  | 'too_many_requests'
  | 'internal'
  | 'action_failed'
  | 'stopping'
  | 'storage_full'
  | 'unreachable'
  | 'invalid_arguments';

/** Every error code there is. Domain code throws a `PolyError` with one of them; edges only render it. */
export const errorKinds: Readonly<Record<ErrorCode, ErrorKind>> = {
  invalid_request: { status: 400, exit: 2, meaning: 'The request cannot be read as asked for.' },
  invalid_arguments: {
    status: 400,
    exit: 2,
    meaning: 'A parameter is missing, unknown or has a wrong value.',
  },
  unauthenticated: { status: 401, exit: 4, meaning: 'No valid credential was given.' },
  forbidden: { status: 403, exit: 4, meaning: 'The caller is known and may not do this.' },
  vetoed: { status: 403, exit: 4, meaning: 'An extension cancelled the action.' },
  not_found: { status: 404, exit: 3, meaning: 'What was named does not exist.' },
  unknown_route: { status: 404, exit: 3, meaning: 'There is no such path.' },
  unknown_action: { status: 404, exit: 3, meaning: 'There is no such action.' },
  method_not_allowed: { status: 405, exit: 2, meaning: 'The path exists, with another method.' },
  timed_out: { status: 408, exit: 5, meaning: 'It did not happen within the time given.' },
  conflict: { status: 409, exit: 4, meaning: 'The state of things does not allow it now.' },
  not_owner: { status: 403, exit: 4, meaning: 'Somebody else holds it.' },
  already_claimed: { status: 409, exit: 4, meaning: 'Somebody holds the task.' },
  not_claimed: { status: 409, exit: 4, meaning: 'Nobody holds the task.' },
  already_completed: { status: 409, exit: 4, meaning: 'The task is completed.' },
  dependencies_pending: { status: 409, exit: 4, meaning: 'The task waits for others.' },
  lease_lost: { status: 409, exit: 4, meaning: 'The claim has run out, or the task was claimed since.' },
  stale_contract: { status: 409, exit: 4, meaning: 'A contract has changed and that was not acknowledged.' },
  pane_exited: { status: 409, exit: 4, meaning: 'The program of the pane has ended.' },
  unavailable: { status: 409, exit: 4, meaning: 'Something this needs is not there, tmux for instance.' },
  uncertain: { status: 409, exit: 4, meaning: 'It was begun, and nobody can know how it ended.' },
  too_large: { status: 413, exit: 2, meaning: 'The request is larger than allowed.' },
  unsupported_media_type: { status: 415, exit: 2, meaning: 'The body is not JSON.' },
  spawn_failed: { status: 422, exit: 1, meaning: 'The program could not be started.' },
  too_many_requests: { status: 429, exit: 4, meaning: 'Too many attempts; wait.' },
  internal: { status: 500, exit: 1, meaning: 'A defect of the hub; its log knows more.' },
  action_failed: { status: 500, exit: 1, meaning: 'The action itself failed.' },
  stopping: { status: 503, exit: 6, meaning: 'The hub is stopping or not ready yet.' },
  storage_full: { status: 507, exit: 1, meaning: 'The disk is full. Nothing was changed.' },
  unreachable: { status: 502, exit: 6, meaning: 'No hub answers.' },
};

export interface ErrorInfo {
  readonly code: ErrorCode;
  readonly message: string;
  /** What to do next. */
  readonly hint?: string;
  readonly details?: unknown;
}

export interface PolyErrorOptions {
  readonly hint?: string;
  readonly details?: unknown;
  readonly cause?: unknown;
}

/**
 * An expected failure, with a code of the table above.
 *
 * @example throw new PolyError('not_found', 'there is no pane "x".', { hint: 'See poly ls.' });
 */
export class PolyError extends Error {
  override readonly name = 'PolyError';
  readonly code: ErrorCode;
  readonly hint?: string;
  readonly details?: unknown;

  constructor(code: ErrorCode, message: string, { hint, details, cause }: PolyErrorOptions = {}) {
    super(message, { cause });
    this.code = code;
    if (hint !== undefined) this.hint = hint;
    if (details !== undefined) this.details = details;
  }

  get info(): ErrorInfo {
    const { code, message, hint, details } = this;
    return { code, message, ...(hint && { hint }), ...(details !== undefined && { details }) };
  }

  static from({ code, message, ...rest }: ErrorInfo): PolyError {
    return new PolyError(code in errorKinds ? code : 'internal', message, rest);
  }
}
