import * as z from 'zod';
import { type Action, defineAction, nothing } from './action.ts';
import { type DeliveryState, deliveryStates } from './agent.ts';
import { type Importance, importances } from './importance.ts';
import { type ProjectChoice, projectChoice } from './mail-identity.ts';
import { agentName, label } from './mail-names.ts';
import { isOneLine, isStorable, mustBeStorable, utf8Length } from './text.ts';

/** What a message may be at most, and how often one agent may write to another. */
export const mailLimits: {
  readonly bodyBytes: number;
  readonly subjectCharacters: number;
  /** From one agent to one other; people are not limited. */
  readonly aMinute: number;
  /** How many agents may answer each other before a person has to say something. */
  readonly hops: number;
} = { bodyBytes: 64 * 1024, subjectCharacters: 200, aMinute: 60, hops: 8 };

const body: z.ZodType<string> = z
  .string()
  .min(1)
  .refine(isStorable, mustBeStorable)
  .refine(
    (text) => utf8Length(text) <= mailLimits.bodyBytes,
    `must be at most ${mailLimits.bodyBytes} bytes of UTF-8; keep what is longer in a file and name that`,
  );
const subject = z
  .string()
  .refine(isStorable, mustBeStorable)
  .refine(
    (text) => [...text].length <= mailLimits.subjectCharacters && isOneLine(text),
    `must be one line of at most ${mailLimits.subjectCharacters} characters`,
  )
  .optional();
export const messageId: z.ZodType<string> = z
  .string()
  .regex(/^msg_[0-9a-f]{16}$/, 'must be msg_ and 16 hex digits');

export interface Writing {
  readonly subject?: string | undefined;
  readonly body: string;
  readonly reply_to?: string | undefined;
  readonly thread_id?: string | undefined;
  readonly importance?: Importance | undefined;
  readonly auto_poke?: boolean | undefined;
}

export interface Asking extends Writing {
  readonly need_reply?: boolean | undefined;
  readonly await_ack_s?: number | undefined;
}

const writing = {
  subject,
  body,
  reply_to: messageId.optional().describe('The message_id this answers.'),
  thread_id: messageId.optional(),
  importance: z.enum(importances).optional(),
  auto_poke: z.boolean().optional().describe('false: do not wake them.'),
};
const asking = {
  ...writing,
  need_reply: z
    .boolean()
    .optional()
    .describe('false: no answer is expected, and nobody is told if it stays unread.'),
  await_ack_s: z.int().min(0).max(30).optional().describe('Wait so many seconds until it was read.'),
};

interface MessageReceipt {
  readonly agent_id: string;
  readonly name: string;
  readonly state: DeliveryState;
}

export interface MailSendResult {
  readonly message_id: string;
  /** Orders all messages; never reused. */
  readonly event_id: number;
  readonly thread_id: string;
  readonly recipients: readonly string[];
  readonly deliveries: readonly MessageReceipt[];
  /** Whether somebody was woken before this answer: never, since waking goes on beside it. */
  readonly poked: boolean;
  readonly retry_scheduled: boolean;
  readonly ack?: { readonly status: 'read' | 'not_yet'; readonly waited_ms: number } | undefined;
}

const sent: z.ZodType<MailSendResult> = z.object({
  message_id: messageId,
  event_id: z.int(),
  thread_id: messageId,
  recipients: z.array(z.string()),
  deliveries: z.array(z.object({ agent_id: z.string(), name: z.string(), state: z.enum(deliveryStates) })),
  poked: z.boolean(),
  retry_scheduled: z.boolean(),
  ack: z.object({ status: z.enum(['read', 'not_yet']), waited_ms: z.int() }).optional(),
});

/** The log tells who wrote to whom; what was said is for the recipients. */
const sending = {
  scope: 'mail:write',
  effect: 'write',
  oneStep: true,
  secrets: ['body', 'subject'],
  result: sent,
} as const;

const address = z.union([
  agentName,
  z.string().regex(/^@?(user(:[a-z0-9][a-z0-9._-]{0,63})?|(agent:)?[a-z0-9][a-z0-9._-]{0,63})$/i),
]);

export interface MailSendParams extends Asking {
  readonly to_agent_name: string;
  readonly to_project?: string | undefined;
  readonly to_team?: string | undefined;
  readonly project_dir?: string | undefined;
}

export const mailSend: Action<MailSendParams, MailSendResult> = defineAction({
  ...sending,
  name: 'mail:send',
  tool: 'send_message',
  summary: 'Puts a message into the inbox of an agent, or of your user (to "user"), and wakes it.',
  params: z.strictObject({
    to_agent_name: address,
    to_project: label.optional().describe('Where that agent is, if not in your project.'),
    to_team: label.optional().describe('The same as to_project.'),
    project_dir: z.string().min(1).max(4096).optional(),
    ...asking,
  }),
});

export interface MailSendByIdParams extends Asking {
  readonly to_agent_id: string;
}

export const mailSendById: Action<MailSendByIdParams, MailSendResult> = defineAction({
  ...sending,
  name: 'mail:send-by-id',
  tool: 'send_message_by_id',
  summary: 'The same to the agent_id of somebody in your project.',
  params: z.strictObject({ to_agent_id: z.string().min(1).max(80), ...asking }),
});

export interface MailBroadcastParams extends Writing, ProjectChoice {}

export const mailBroadcast: Action<MailBroadcastParams, MailSendResult> = defineAction({
  ...sending,
  name: 'mail:broadcast',
  tool: 'broadcast',
  summary: 'Writes to every other agent of your project.',
  params: z.strictObject({
    ...projectChoice,
    project_dir: z.string().min(1).max(4096).optional(),
    ...writing,
  }),
});

export interface MailBroadcastToRoleParams extends MailBroadcastParams {
  readonly to_role: string;
}

export const mailBroadcastToRole: Action<MailBroadcastToRoleParams, MailSendResult> = defineAction({
  ...sending,
  name: 'mail:broadcast-to-role',
  tool: 'broadcast_to_role',
  summary: 'Writes to every other agent of your project that has a role.',
  params: z.strictObject({
    to_role: label,
    ...projectChoice,
    project_dir: z.string().min(1).max(4096).optional(),
    ...writing,
  }),
});

/** A message as it is handed to a reader: what stands beside `body` is stamped by the hub. */
export interface MailMessage {
  readonly message_id: string;
  readonly event_id: number;
  /** `agent:…`, `user:…`, or `hub`. */
  readonly from: string;
  readonly from_agent_id?: string | undefined;
  readonly project: string;
  readonly to: string;
  readonly sent_at: string;
  readonly kind: 'direct' | 'broadcast' | 'role' | 'notice' | 'advice' | 'digest';
  readonly thread_id: string;
  readonly reply_to?: string | undefined;
  readonly hops: number;
  readonly importance: Importance;
  readonly need_reply: boolean;
  /** Who vouches for it: an agent, or a person whom the user has invited, only for itself. */
  readonly trust: 'agent' | 'person' | 'user' | 'hub';
  readonly note: string;
  readonly subject?: string | undefined;
  readonly body: string;
}

export const mailMessage: z.ZodType<MailMessage> = z.object({
  message_id: messageId,
  event_id: z.int(),
  from: z.string(),
  from_agent_id: z.string().optional(),
  project: z.string(),
  to: z.string(),
  sent_at: z.string(),
  kind: z.enum(['direct', 'broadcast', 'role', 'notice', 'advice', 'digest']),
  thread_id: messageId,
  reply_to: messageId.optional(),
  hops: z.int(),
  importance: z.enum(importances),
  need_reply: z.boolean(),
  trust: z.enum(['agent', 'person', 'user', 'hub']),
  note: z.string(),
  subject: z.string().optional(),
  body: z.string(),
});

export interface MailInboxParams {
  readonly since_event_id?: number | undefined;
  readonly limit?: number | undefined;
  readonly peek?: boolean | undefined;
  readonly thread_id?: string | undefined;
  readonly max_bytes?: number | undefined;
}

export interface MailInboxResult {
  readonly messages: readonly MailMessage[];
  readonly has_more: boolean;
  /** Give it as since_event_id to look at what came behind it. */
  readonly last_event_id: number;
}

const limit = z.int().min(1).max(200).optional();

export const mailInbox: Action<MailInboxParams, MailInboxResult> = defineAction({
  name: 'mail:inbox',
  tool: 'get_inbox',
  summary: 'Reads your new messages, the oldest first; they count as read then.',
  scope: 'mail:read',
  effect: 'write',
  oneStep: true,
  secrets: ['messages'],
  params: z.strictObject({
    since_event_id: z
      .int()
      .min(0)
      .optional()
      .describe('Only look at what came behind this; nothing counts as read.'),
    limit,
    peek: z.boolean().optional().describe('Only look.'),
    thread_id: messageId.optional().describe('Only look at one thread.'),
    max_bytes: z.int().min(1).max(1_048_576).optional(),
  }),
  result: z.object({ messages: z.array(mailMessage), has_more: z.boolean(), last_event_id: z.int() }),
});

export interface MailSearchParams {
  readonly query: string;
  readonly limit?: number | undefined;
}

export interface MailSearchResult {
  readonly messages: readonly MailMessage[];
  readonly has_more: boolean;
}

export const mailSearch: Action<MailSearchParams, MailSearchResult> = defineAction({
  name: 'mail:search',
  summary: 'Finds what you have received or sent by its words, the newest first.',
  scope: 'mail:read',
  effect: 'read',
  params: z.strictObject({ query: z.string().min(1).max(1000).refine(isStorable, mustBeStorable), limit }),
  result: z.object({ messages: z.array(mailMessage), has_more: z.boolean() }),
});

export interface MailStatusParams {
  readonly message_id: string;
}

export interface MailDelivery {
  readonly agent_id: string;
  readonly name: string;
  readonly state: DeliveryState;
  /** The recipient's cursor has passed it. */
  readonly read: boolean;
  readonly door?: string | undefined;
  readonly reason?: string | undefined;
  readonly attempts: number;
  readonly next_attempt_at?: string | undefined;
  readonly updated_at: string;
  /** Everything that was done about it, in order. */
  readonly steps: readonly MailDeliveryStep[];
}

export interface MailDeliveryStep {
  readonly at: string;
  readonly state: DeliveryState;
  readonly door?: string | undefined;
  readonly reason?: string | undefined;
}

export interface MailStatusResult {
  readonly message_id: string;
  readonly event_id: number;
  readonly sent_at: string;
  readonly statuses: readonly MailDelivery[];
}

export const mailStatus: Action<MailStatusParams, MailStatusResult> = defineAction({
  name: 'mail:status',
  tool: 'get_delivery_status',
  summary: 'Says how far a message of yours has got with each recipient.',
  scope: 'mail:read',
  effect: 'read',
  params: z.strictObject({ message_id: messageId }),
  result: z.object({
    message_id: messageId,
    event_id: z.int(),
    sent_at: z.string(),
    statuses: z.array(
      z.object({
        agent_id: z.string(),
        name: z.string(),
        state: z.enum(deliveryStates),
        read: z.boolean(),
        door: z.string().optional(),
        reason: z.string().optional(),
        attempts: z.int(),
        next_attempt_at: z.string().optional(),
        updated_at: z.string(),
        steps: z.array(
          z.object({
            at: z.string(),
            state: z.enum(deliveryStates),
            door: z.string().optional(),
            reason: z.string().optional(),
          }),
        ),
      }),
    ),
  }),
});

/** What retention did last. */
export interface MailRetention {
  readonly at: string;
  readonly messages: number;
  readonly deliveries: number;
  /** Of those, how many nobody had read. */
  readonly unread: number;
  readonly error?: string | undefined;
}

export interface MailOverview {
  readonly agents: number;
  /** How many messages were ever sent. */
  readonly last_event_id: number;
  /** What is new in your own inbox. */
  readonly unread: number;
  readonly retention: MailRetention | null;
}

export const mailOverview: Action<Record<string, never>, MailOverview> = defineAction({
  name: 'mail:overview',
  summary: 'Says how many agents and messages there are, what is new for you, and what was forgotten last.',
  scope: 'mail:watch',
  effect: 'read',
  params: nothing,
  result: z.object({
    agents: z.int(),
    last_event_id: z.int(),
    unread: z.int(),
    retention: z
      .object({
        at: z.string(),
        messages: z.int(),
        deliveries: z.int(),
        unread: z.int(),
        error: z.string().optional(),
      })
      .nullable(),
  }),
});
