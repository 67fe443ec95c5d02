import { type Builder, defineOperation } from '../operation/operation.ts';
import { type Ack, ack } from '../operation/outcome.ts';
import { client } from '../operation/param.ts';
import type { ClientTarget } from '../operation/target.ts';

export interface ClosePopup {
  readonly client: ClientTarget;
}

export const closePopup: Builder<ClosePopup, Ack> = defineOperation<ClosePopup, Ack>({
  kind: 'close_popup',
  command: 'display-popup',
  scope: 'client',
  effect: 'write',
  summary: 'Closes the popup that a client shows, with whatever runs in it.',
  params: { client: client('the client', '-c') },
  fixed: ['-C'],
  result: ack,
  example: { client: { client: '/dev/pts/0' } },
});
