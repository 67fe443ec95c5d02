import { createHash } from 'node:crypto';
import { type ErrorInfo, PolyError } from '@polyphony/protocol';
import { isConflict } from '../store/errors.ts';
import type { Statement, Store } from '../store/store.ts';
import type { Caller } from './caller.ts';

/** How an action ended, in the form that is stored and given again. */
export type Answer =
  | { readonly result: unknown }
  | {
      readonly error: ErrorInfo;
      /** The user has not decided: as if it had never been asked for. */
      readonly undecided?: true;
    };

/** One use of a key by one caller. */
export interface KeyedCall {
  /** Marks the call as begun; refused when the key has been used. */
  readonly begin: Statement;
  /** Keeps how it ended; a key under which nothing was decided can be used again. */
  end(answer: Answer): Statement;
  /** Keeps, for what is one event and nothing else, the `seq` it gets. */
  readonly endWithSeq: Statement;
}

interface Row {
  readonly request_hash: string;
  readonly answer: string | null;
}

const longestKey = 255;

type KeyOwner = Pick<Caller, 'participant'> & { readonly birth?: string | undefined };

/** Whose keys they are: a pane's end with it, whoever has its id afterwards. */
export const ownerOf = ({ participant, birth }: KeyOwner): string => birth ?? participant;

/** Makes a key free again under which nothing has happened. */
export function releaseKey(caller: KeyOwner, key: string): Statement {
  return {
    sql: 'DELETE FROM idempotency_keys WHERE participant = ? AND key = ? AND answer IS NULL',
    values: [ownerOf(caller), key],
  };
}

export function keyedCall(
  caller: Caller,
  key: string,
  name: string,
  params: unknown,
  now: number,
): KeyedCall & { isUsed(store: Store): Promise<boolean>; recall(store: Store): Promise<Answer> } {
  if (key === '' || key.length > longestKey) {
    throw new PolyError(
      'invalid_request',
      `an idempotency key has 1 to ${longestKey} characters; this one has ${key.length}.`,
    );
  }
  const owner = ownerOf(caller);
  const hash = createHash('sha256')
    .update(`${name}\n${JSON.stringify(params)}`)
    .digest('hex');
  return {
    begin: {
      sql: 'INSERT INTO idempotency_keys (participant, key, request_hash, created_at) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING',
      values: [owner, key, hash, now],
      expect: 1,
    },
    end: (answer) =>
      'undecided' in answer
        ? releaseKey(caller, key)
        : {
            sql: 'UPDATE idempotency_keys SET answer = ? WHERE participant = ? AND key = ?',
            values: [JSON.stringify(answer), owner, key],
          },
    endWithSeq: {
      sql: `UPDATE idempotency_keys SET answer = '{"result":{"seq":' || CAST(CAST(? AS BIGINT) AS TEXT) || '}}' WHERE participant = ? AND key = ?`,
      values: [{ seqOf: 0 }, owner, key],
    },
    async isUsed(store) {
      const sql = 'SELECT 1 AS used FROM idempotency_keys WHERE participant = ? AND key = ?';
      return (await store.query(sql, [owner, key])).length > 0;
    },
    async recall(store) {
      const [row] = await store.query<Row>(
        'SELECT request_hash, answer FROM idempotency_keys WHERE participant = ? AND key = ?',
        [owner, key],
      );
      if (row?.request_hash !== hash) {
        throw new PolyError('conflict', `the idempotency key "${key}" was used for another request.`, {
          hint: 'Use a new key for a new request.',
        });
      }
      if (row.answer === null) {
        throw new PolyError(
          'uncertain',
          `the request with the key "${key}" was begun, and how it ended is not known.`,
          {
            hint: 'Look whether it has taken effect; if not, ask again with a new key.',
          },
        );
      }
      return JSON.parse(row.answer) as Answer;
    },
  };
}

/** Whether the first statement of a batch, which marks a call as begun, found its key used. */
export const isUsedKey = (error: unknown): boolean => isConflict(error) && error.statement === 0;
