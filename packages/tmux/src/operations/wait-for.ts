import { type Builder, defineOperation } from '../operation/operation.ts';
import { type Ack, ack } from '../operation/outcome.ts';
import { flag, nameArgument, required } from '../operation/param.ts';

export interface WaitFor {
  readonly channel: string;
  readonly lock?: boolean;
}

export const waitFor: Builder<WaitFor, Ack> = defineOperation<WaitFor, Ack>({
  kind: 'wait_for',
  scope: 'server',
  effect: 'write',
  summary: 'Waits until a channel is signalled, or until it can be locked; signal_channel ends both.',
  params: {
    lock: flag('-L', 'lock the channel, waiting while somebody else has it'),
    channel: required(nameArgument('the channel: any name both sides know')),
  },
  result: ack,
  ownProcess: true,
  example: { channel: 'build', lock: true },
});
