import { type Builder, defineOperation } from '../operation/operation.ts';
import { type Ack, ack } from '../operation/outcome.ts';
import { named, pathArgument, required } from '../operation/param.ts';

export interface LoadBuffer {
  readonly path: string;
  readonly bufferName?: string;
}

export const loadBuffer: Builder<LoadBuffer, Ack> = defineOperation<LoadBuffer, Ack>({
  kind: 'load_buffer',
  scope: 'server',
  effect: 'write',
  summary: 'Reads a file into a buffer.',
  params: {
    bufferName: named('-b', 'which buffer; a new one that tmux names unless told'),
    path: required(pathArgument('the file', { expanded: true })),
  },
  result: ack,
  // On a shared connection tmux says "done" before it has read the file, and its errors come too late.
  ownProcess: true,
  example: { path: '/etc/hosts', bufferName: 'hosts' },
});
