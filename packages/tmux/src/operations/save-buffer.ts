import { type Builder, defineOperation } from '../operation/operation.ts';
import { type Ack, ack } from '../operation/outcome.ts';
import { flag, named, pathArgument, required } from '../operation/param.ts';

export interface SaveBuffer {
  readonly path: string;
  readonly bufferName?: string;
  readonly append?: boolean;
}

export const saveBuffer: Builder<SaveBuffer, Ack> = defineOperation<SaveBuffer, Ack>({
  kind: 'save_buffer',
  scope: 'server',
  effect: 'write',
  summary: 'Writes a buffer to a file.',
  params: {
    bufferName: named('-b', 'which buffer; the newest without a name unless told'),
    append: flag('-a', 'add to what the file holds'),
    path: required(pathArgument('the file', { expanded: true })),
  },
  result: ack,
  // On a shared connection tmux says "done" before it has written the file, and its errors come too late.
  ownProcess: true,
  example: { path: '/dev/null', bufferName: 'note' },
});
