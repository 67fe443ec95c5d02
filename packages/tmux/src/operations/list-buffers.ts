import { type Builder, defineOperation } from '../operation/operation.ts';
import { text } from '../operation/param.ts';
import { countColumn, rows, textColumn } from '../operation/rows.ts';

export interface ListBuffers {
  readonly filter?: string;
}

export interface BufferRow {
  readonly name: string;
  readonly size: number;
  /** Seconds since 1970. */
  readonly created: number;
  /** The first characters, with escapes for what cannot be printed. */
  readonly sample: string;
}

const bufferRows = rows<BufferRow>('BufferRows', {
  name: textColumn('#{buffer_name}'),
  size: countColumn('#{buffer_size}'),
  created: countColumn('#{buffer_created}'),
  sample: textColumn('#{buffer_sample}'),
});

export const listBuffers: Builder<ListBuffers, readonly BufferRow[]> = defineOperation<
  ListBuffers,
  readonly BufferRow[]
>({
  kind: 'list_buffers',
  scope: 'server',
  effect: 'read',
  summary: 'Lists the paste buffers, the newest first.',
  params: { filter: text('-f', 'a format; only buffers for which it is true') },
  result: bufferRows,
  example: {},
});
