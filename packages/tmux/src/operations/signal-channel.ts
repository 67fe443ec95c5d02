import * as z from 'zod';
import { type Builder, defineOperation } from '../operation/operation.ts';
import { type Ack, ack } from '../operation/outcome.ts';
import { custom, nameArgument, required } from '../operation/param.ts';

export interface SignalChannel {
  readonly channel: string;
  readonly unlock?: boolean;
}

export const signalChannel: Builder<SignalChannel, Ack> = defineOperation<SignalChannel, Ack>({
  kind: 'signal_channel',
  command: 'wait-for',
  scope: 'server',
  effect: 'write',
  summary: 'Wakes all that wait for a channel, or the first that will; or hands its lock on.',
  params: {
    unlock: {
      ...custom(z.boolean(), '-S | -U', 'hand the lock on instead', (on) => [on ? '-U' : '-S']),
      absent: ['-S'],
    },
    channel: required(nameArgument('the channel')),
  },
  result: ack,
  example: { channel: 'build' },
});
