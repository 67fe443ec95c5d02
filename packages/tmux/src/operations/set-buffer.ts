import * as z from 'zod';
import { type Builder, defineOperation } from '../operation/operation.ts';
import { type Ack, ack } from '../operation/outcome.ts';
import { custom, flag, named, required } from '../operation/param.ts';

export interface SetBuffer {
  readonly data: string;
  readonly bufferName?: string;
  readonly append?: boolean;
}

const data = z
  .string()
  .min(1, 'tmux ignores empty data; use delete_buffer')
  .regex(/^[^\0]*$/, 'a tmux argument cannot hold a NUL byte');

export const setBuffer: Builder<SetBuffer, Ack> = defineOperation<SetBuffer, Ack>({
  kind: 'set_buffer',
  scope: 'server',
  effect: 'write',
  summary: 'Puts a text into a buffer.',
  params: {
    bufferName: named('-b', 'which buffer; a new one that tmux names unless told'),
    append: flag('-a', 'add to what it holds'),
    data: required(custom(data, '', 'the text', (text) => [text])),
  },
  result: ack,
  example: { bufferName: 'note', data: 'hello again' },
});
