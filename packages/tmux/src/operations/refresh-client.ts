import * as z from 'zod';
import { type Builder, defineOperation } from '../operation/operation.ts';
import { type Ack, ack } from '../operation/outcome.ts';
import { choice, client, custom, flag, integer, optional, target } from '../operation/param.ts';
import { atMostOne } from '../operation/refusal.ts';
import { renderSubscription, type Subscription, subscriptionSchema } from '../operation/subscription.ts';
import {
  type ClientTarget,
  type PaneId,
  paneIdSchema,
  type Target,
  type WindowId,
  windowIdSchema,
} from '../operation/target.ts';

export interface RefreshClient {
  readonly target: ClientTarget;
  readonly statusOnly?: boolean;
  /** The size of a control client or, with a window, of that window as this client sees it. */
  readonly size?: { readonly width: number; readonly height: number; readonly window?: WindowId | undefined };
  /** As attach-session takes them: `read-only`, `no-output`, `pause-after=5`; with `!` in front they are cleared. */
  readonly flags?: readonly string[];
  /** What a control client gets of the output of panes. */
  readonly output?: Readonly<Record<PaneId, 'on' | 'off' | 'continue' | 'pause'>>;
  readonly subscribe?: readonly Subscription[];
  readonly unsubscribe?: readonly string[];
  readonly clipboard?: boolean;
  readonly clipboardTo?: Target;
  readonly report?: { readonly pane: PaneId; readonly sequence: string };
  readonly pan?: 'up' | 'down' | 'left' | 'right';
  readonly by?: number;
  readonly followCursor?: boolean;
}

const cells = z.int().min(1).max(10_000);
const sizeSchema = z.strictObject({ width: cells, height: cells, window: windowIdSchema.optional() });
const flagsSchema = z
  .array(
    z.string().regex(/^!?[a-z][a-z-]*(=\d+)?$/, 'not a client flag: no-output, !read-only, pause-after=5'),
  )
  .min(1)
  .readonly();
const outputSchema = z.record(paneIdSchema, z.enum(['on', 'off', 'continue', 'pause']));
const namesSchema = z
  .array(z.string().regex(/^[^:\p{Cc}]+$/u, 'not the name of a subscription'))
  .min(1)
  .readonly();
const reportSchema = z.strictObject({ pane: paneIdSchema, sequence: z.string().regex(/^[^\0]+$/) });

function refuse(params: RefreshClient): string | undefined {
  if (params.by !== undefined && params.pan === undefined) return 'by says how far to pan: give pan too';
  const watch = params.subscribe ?? params.unsubscribe;
  const { pan, followCursor, clipboard, clipboardTo, output, size, report, statusOnly } = params;
  // tmux would do the first of these it comes to, and leave the others without a word.
  const acts = {
    pan,
    followCursor,
    clipboard,
    clipboardTo,
    output,
    subscriptions: watch,
    size,
    report,
    statusOnly,
  };
  return atMostOne(acts, ...(Object.keys(acts) as (keyof typeof acts)[]));
}

export const refreshClient: Builder<RefreshClient, Ack> = defineOperation<RefreshClient, Ack>({
  kind: 'refresh_client',
  scope: 'client',
  effect: 'write',
  summary:
    'Redraws a client; or sets its size, its flags, what it is told of, or which part of a window it shows.',
  params: {
    target: client(),
    statusOnly: flag('-S', 'redraw only the status line'),
    size: custom(
      sizeSchema,
      '-C',
      'width and height of a control client, or of one window for it',
      (size) => ['-C', `${size.window === undefined ? '' : `${size.window}:`}${size.width}x${size.height}`],
    ),
    flags: custom(flagsSchema, '-f', 'client flags to set or, with ! in front, to clear', (flags) => [
      '-f',
      flags.join(','),
    ]),
    output: custom(outputSchema, '-A', 'for each pane, what a control client gets of its output', (states) =>
      Object.entries(states).flatMap(([pane, state]) => ['-A', `${pane}:${state}`]),
    ),
    subscribe: custom(
      z.array(subscriptionSchema).min(1).readonly(),
      '-B',
      'formats a control client is told the changes of',
      (list) => list.flatMap((subscription) => ['-B', renderSubscription(subscription)]),
    ),
    unsubscribe: custom(namesSchema, '-B', 'subscriptions to end', (names) =>
      names.flatMap((name) => ['-B', name]),
    ),
    report: custom(
      reportSchema,
      '-r',
      'what a control client’s terminal answers a program in a pane that asks for its colours',
      ({ pane, sequence }) => ['-r', `${pane}:${sequence}`],
      { since: '3.5' },
    ),
    pan: choice(
      { up: ['-U'], down: ['-D'], left: ['-L'], right: ['-R'] },
      'move the part shown of a window larger than the client',
    ),
    followCursor: flag('-c', 'show the part with the cursor again'),
    clipboard: flag('-l', 'ask the terminal for its clipboard, into a new paste buffer'),
    clipboardTo: {
      ...optional(target('ask the terminal for its clipboard, for this pane', '-l')),
      since: '3.3',
    },
    by: {
      ...integer('', 'how many cells to pan; 1 unless told', { min: 1 }),
      render: (cells) => [String(cells)],
    },
  },
  refuse,
  result: ack,
  example: { target: { client: '/dev/pts/0' }, statusOnly: true },
});
