import type { PaneWriteParams } from '@polyphony/protocol';

/** What a `pane:write` types. */
export function writtenBytes({
  data,
  enter = false,
  encoding = 'utf8',
}: Omit<PaneWriteParams, 'paneId'>): Buffer {
  return Buffer.concat([Buffer.from(data, encoding), Buffer.from(enter ? '\r' : '')]);
}
