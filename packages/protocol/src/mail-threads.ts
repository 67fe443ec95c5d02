import * as z from 'zod';
import { type Action, defineAction } from './action.ts';
import { type MailMessage, type MailStatusResult, mailMessage, mailStatus, messageId } from './mail.ts';
import { type ProjectChoice, projectChoice } from './mail-identity.ts';

/** Messages that answer each other, as they stand in a list. */
export interface MailThread {
  readonly thread_id: string;
  readonly project: string;
  /** Of its first message, as far as that is kept. */
  readonly subject?: string | undefined;
  readonly from: string;
  readonly to: string;
  readonly messages: number;
  /** How many of them are new to you. */
  readonly unread: number;
  /** How often one of them has not been read by somebody it was for. */
  readonly pending: number;
  /** How often that is because it failed, or nobody knows. */
  readonly failed: number;
  readonly last: {
    readonly message_id: string;
    readonly event_id: number;
    readonly from: string;
    readonly sent_at: string;
    /** How its body begins. */
    readonly excerpt: string;
  };
}

const mailThreadRow: z.ZodType<MailThread> = z.object({
  thread_id: messageId,
  project: z.string(),
  subject: z.string().optional(),
  from: z.string(),
  to: z.string(),
  messages: z.int(),
  unread: z.int(),
  pending: z.int(),
  failed: z.int(),
  last: z.object({
    message_id: messageId,
    event_id: z.int(),
    from: z.string(),
    sent_at: z.string(),
    excerpt: z.string(),
  }),
});

export interface MailThreadsParams extends ProjectChoice {
  readonly query?: string | undefined;
  readonly before_event_id?: number | undefined;
  readonly limit?: number | undefined;
}

export interface MailThreadsResult {
  readonly threads: readonly MailThread[];
  readonly has_more: boolean;
}

const limit = z.int().min(1).max(200).optional();
const before = z.int().min(1).optional();

export const mailThreads: Action<MailThreadsParams, MailThreadsResult> = defineAction({
  name: 'mail:threads',
  summary: 'Lists what is written, between whomever, by threads; the one with the newest message first.',
  scope: 'mail:watch',
  effect: 'read',
  params: z.strictObject({
    ...projectChoice,
    query: z.string().min(1).max(1000).optional().describe('Only threads with these words in a message.'),
    before_event_id: before.describe('Go on behind the thread whose last message has this number.'),
    limit,
  }),
  result: z.object({ threads: z.array(mailThreadRow), has_more: z.boolean() }),
});

export interface MailThreadParams {
  readonly thread_id: string;
  readonly before_event_id?: number | undefined;
  readonly limit?: number | undefined;
}

export interface MailThreadResult {
  /** Each with how far it has got. */
  readonly messages: readonly (MailMessage & MailStatusResult)[];
  /** There are older ones. */
  readonly has_more: boolean;
}

export const mailThread: Action<MailThreadParams, MailThreadResult> = defineAction({
  name: 'mail:thread',
  summary: 'Shows the newest messages of a thread, the oldest first, and how far each has got.',
  scope: 'mail:watch',
  effect: 'read',
  params: z.strictObject({
    thread_id: messageId,
    before_event_id: before.describe('Only what was written before this number.'),
    limit,
  }),
  result: z.object({
    messages: z.array(z.intersection(mailMessage, mailStatus.result)),
    has_more: z.boolean(),
  }),
});

export const mailSeen: Action<{ readonly up_to_event_id: number }, { readonly unread: number }> =
  defineAction({
    name: 'mail:seen',
    summary: 'Notes that you have read your messages up to one; for people, who read by threads.',
    scope: 'mail:watch',
    effect: 'write',
    oneStep: true,
    params: z.strictObject({ up_to_event_id: z.int().min(1) }),
    result: z.object({ unread: z.int() }),
  });
