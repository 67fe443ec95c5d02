import { StoreError } from './errors.ts';
import type { SeqOf, Statement, Value } from './store.ts';

export const isSeqOf = (value: Value | SeqOf): value is SeqOf =>
  typeof value === 'object' && value !== null && 'seqOf' in value;

/** Whether a statement can only be run once the events of its batch are there. */
export const namesSeq = ({ values = [] }: Statement): boolean => values.some(isSeqOf);

export function withSeqs(statement: Statement, seqs: readonly number[]): Statement {
  const values = statement.values?.map((value): Value => {
    if (!isSeqOf(value)) return value;
    const seq = seqs[value.seqOf];
    if (seq !== undefined) return seq;
    throw new StoreError({ code: 'refused', message: `The batch has no event ${value.seqOf}.` });
  });
  return values ? { ...statement, values } : statement;
}
