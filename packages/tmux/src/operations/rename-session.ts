import { type Builder, defineOperation } from '../operation.ts';
import { type Ack, ack } from '../outcome.ts';
import { custom, required, target } from '../param.ts';
import { literalFormat } from '../quote.ts';
import { sessionNameSchema, type Target } from '../target.ts';

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
