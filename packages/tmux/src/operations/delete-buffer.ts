import { type Builder, defineOperation } from '../operation/operation.ts';
import { type Ack, ack } from '../operation/outcome.ts';
import { named, required } from '../operation/param.ts';

export interface DeleteBuffer {
  readonly bufferName: string;
}

export const deleteBuffer: Builder<DeleteBuffer, Ack> = defineOperation<DeleteBuffer, Ack>({
  kind: 'delete_buffer',
  scope: 'server',
  effect: 'write',
  summary: 'Deletes a buffer.',
  params: { bufferName: required(named('-b', 'which buffer')) },
  result: ack,
  example: { bufferName: 'note' },
});
