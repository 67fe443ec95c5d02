import * as z from 'zod';
import { type PaneId, paneIdSchema, type WindowId, windowIdSchema } from './target.ts';

/** A format tmux watches: looked at once a second, told when it has changed. */
export interface Subscription {
  readonly name: string;
  /** A pane, a window, all panes or windows of the session (`%*`, `@*`); the session itself unless told. */
  readonly what?: PaneId | WindowId | '%*' | '@*' | undefined;
  readonly format: string;
}

export const subscriptionSchema: z.ZodType<Subscription> = z.strictObject({
  name: z
    .string()
    .regex(/^[^:\p{Cc}]+$/u, 'the name of a subscription cannot hold ":" or control characters'),
  what: z.union([paneIdSchema, windowIdSchema, z.enum(['%*', '@*'])]).optional(),
  format: z.string().regex(/^[^\0]+$/, 'a format to watch cannot be empty'),
});

/** The one word tmux takes it as; only the format may hold more colons. */
export function renderSubscription({ name, what, format }: Subscription): string {
  return `${name}:${what ?? ''}:${format}`;
}
