import { type Builder, defineOperation } from '../operation/operation.ts';
import { type Ack, ack } from '../operation/outcome.ts';
import { custom, required, target } from '../operation/param.ts';
import { literalFormat } from '../operation/quote.ts';
import { sessionNameSchema, type Target } from '../operation/target.ts';

export interface RenameSession {
  readonly target: Target;
  readonly name: string;
}

export const renameSession: Builder<RenameSession, Ack> = defineOperation<RenameSession, Ack>({
  kind: 'rename_session',
  scope: 'session',
  effect: 'write',
  summary: 'Gives a session another name.',
  params: {
    target: target('the session'),
    name: required(custom(sessionNameSchema, '', 'its new name', (name) => [literalFormat(name)])),
  },
  result: ack,
  example: { target: { session: 'other' }, name: 'elsewhere' },
});
