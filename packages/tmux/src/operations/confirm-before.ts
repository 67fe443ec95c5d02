import * as z from 'zod';
import { type Builder, defineOperation } from '../operation/operation.ts';
import type { Outcome } from '../operation/outcome.ts';
import { argument, client, custom, flag, required, text } from '../operation/param.ts';
import type { ClientTarget } from '../operation/target.ts';

export interface ConfirmBefore {
  readonly target: ClientTarget;
  readonly command: string;
  readonly prompt?: string;
  readonly key?: string;
  readonly enterConfirms?: boolean;
  readonly background?: boolean;
}

export interface Confirmation {
  /** Null when the answer was not waited for. */
  readonly confirmed: boolean | null;
}

/** Only a person's no exits with 1 and without a word. */
const confirmation: Outcome<Confirmation> = {
  name: 'Confirmation',
  schema: z.strictObject({ confirmed: z.boolean().nullable() }),
  read: (reply, { params }) => ({ confirmed: params.background ? null : reply.status === 'complete' }),
  answersFailure: (reply) => reply.stderr === '',
};

export const confirmBefore: Builder<ConfirmBefore, Confirmation> = defineOperation<
  ConfirmBefore,
  Confirmation
>({
  kind: 'confirm_before',
  scope: 'client',
  effect: 'destructive',
  summary: 'Asks the person at a client whether a tmux command may run, and runs it on a yes.',
  // Older ones ask, and do not tell what was answered.
  since: '3.3',
  params: {
    target: client(),
    prompt: text('-p', 'the question; a format'),
    key: custom(
      z.string().regex(/^[!-~]$/, 'one printable character'),
      '-c',
      'the key that confirms; y unless told',
      (key) => ['-c', key],
      { since: '3.4' },
    ),
    enterConfirms: flag('-y', 'Enter alone confirms too', { since: '3.4' }),
    background: flag('-b', 'do not wait for the answer'),
    command: required(argument('the tmux command')),
  },
  result: confirmation,
  ownProcess: true,
  example: {
    target: { client: '/dev/pts/0' },
    prompt: 'Close the window logs? (y/n)',
    command: 'kill-window -t =demo:=logs',
    background: true,
  },
});
