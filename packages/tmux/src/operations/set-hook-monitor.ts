import type * as z from 'zod';
import { type Builder, defineOperation } from '../operation/operation.ts';
import { type Ack, ack } from '../operation/outcome.ts';
import { argument, custom, flag, optional, required, target } from '../operation/param.ts';
import { exactlyOne } from '../operation/refusal.ts';
import { renderSubscription, type Subscription, subscriptionSchema } from '../operation/subscription.ts';
import type { Target } from '../operation/target.ts';

export interface SetHookMonitor {
  readonly target?: Target;
  readonly global?: boolean;
  /** Its name starts with `@`. */
  readonly monitor: Subscription;
  readonly whenTrue?: boolean;
  readonly command: string;
}

const monitorSchema: z.ZodType<Subscription> = subscriptionSchema.refine(({ name }) => name.startsWith('@'), {
  message: 'the name of a monitor starts with @',
  path: ['name'],
});

export const setHookMonitor: Builder<SetHookMonitor, Ack> = defineOperation<SetHookMonitor, Ack>({
  kind: 'set_hook_monitor',
  command: 'set-hook',
  scope: 'session',
  effect: 'write',
  summary:
    'Has tmux run commands of its own when the value of a format changes; set_hook removes it by its name.',
  since: '3.8',
  params: {
    target: optional(target('the session')),
    global: flag('-g', 'for all sessions'),
    whenTrue: flag('-T', 'only when it becomes true'),
    monitor: required(
      custom(monitorSchema, '-B', 'the hook’s name, what is looked at, and the format', (monitor) => [
        '-B',
        renderSubscription(monitor),
      ]),
    ),
    command: required(argument('tmux commands, in tmux’s own language; #{hook_value} is the new value')),
  },
  refuse: (params) => exactlyOne(params, 'target', 'global'),
  result: ack,
  example: {
    target: { session: 'demo' },
    monitor: { name: '@title', what: '%*', format: '#{pane_title}' },
    command: 'set-buffer -b title "#{hook_value}"',
  },
});
