import * as z from 'zod';
import { TmuxError } from '../errors.ts';
import type { Reply } from './reply.ts';
import { linesOf } from './reply.ts';
import {
  type PaneId,
  paneIdSchema,
  type SessionId,
  sessionIdSchema,
  type WindowId,
  windowIdSchema,
} from './target.ts';

/** How an operation's answer is read: its type, its schema for tools, and the reading itself. */
export interface Outcome<V> {
  readonly name: string;
  readonly schema: z.ZodType<V>;
  /** The flags that make tmux say it: `-P -F …` of what creates, `-F …` of what lists. */
  readonly ask?: (guard: string, params: Readonly<Record<string, unknown>>) => readonly string[];
  /** Its answer is told from its separators by a guard that must be new for each call. */
  readonly guarded?: boolean;
  /** Called only for complete replies, or for any when `answersFailure`. */
  read(reply: Reply, context: ReadContext): V;
  /** A non-zero exit is an answer, not a failure: has_session says "no" that way. */
  readonly answersFailure?: (reply: Reply) => boolean;
  /** What is wrong although tmux did as it was told: our own guard around the command refused it. */
  readonly refused?: (reply: Reply) => string | undefined;
}

interface ReadContext {
  readonly params: Readonly<Record<string, unknown>>;
  /** What separates the columns of this call's rows: random, so that no name or path can forge it. */
  readonly guard: string;
}

/** Done; there is nothing more to say. */
export type Ack = Readonly<Record<string, never>>;

export const ack: Outcome<Ack> = Object.freeze({
  name: 'Ack',
  schema: z.strictObject({}) as unknown as z.ZodType<Ack>,
  read: () => Object.freeze({}),
});

export interface Lines {
  readonly lines: readonly string[];
}

export const lines: Outcome<Lines> = Object.freeze({
  name: 'Lines',
  schema: z.strictObject({ lines: z.array(z.string()).readonly() }),
  read: (reply: Reply) => ({ lines: linesOf(reply.stdout) }),
});

export interface Text {
  readonly text: string;
}

/** One answer as tmux printed it, without the newline that closes it. */
export const line: Outcome<Text> = Object.freeze({
  name: 'Text',
  schema: z.strictObject({ text: z.string() }),
  read: (reply: Reply) => ({ text: reply.stdout.replace(/\n$/, '') }),
});

/** Bytes as they are, closing newline or none. */
export const verbatim: Outcome<Text> = Object.freeze({
  ...line,
  read: (reply: Reply) => ({ text: reply.stdout }),
});

export interface Exists {
  readonly exists: boolean;
}

export const exists: Outcome<Exists> = Object.freeze({
  name: 'Exists',
  schema: z.strictObject({ exists: z.boolean() }),
  read: (reply: Reply) => ({ exists: reply.status === 'complete' }),
  answersFailure: (reply: Reply) =>
    /can't find|no server running|error connecting|no sessions/.test(reply.stderr),
});

export interface CreatedSession {
  readonly sessionId: SessionId;
  readonly windowId: WindowId;
  readonly paneId: PaneId;
}
export type CreatedWindow = Omit<CreatedSession, 'sessionId'>;
export type CreatedPane = Omit<CreatedWindow, 'windowId'>;

const idFormats = { sessionId: '#{session_id}', windowId: '#{window_id}', paneId: '#{pane_id}' };
const idSchemas = { sessionId: sessionIdSchema, windowId: windowIdSchema, paneId: paneIdSchema };

/** A creating operation prints the ids of what it made; fewer ids than asked for is an error, never a guess. */
function created<V extends object>(name: string, keys: readonly (keyof typeof idFormats)[]): Outcome<V> {
  const shape = Object.fromEntries(keys.map((key) => [key, idSchemas[key]]));
  const schema = z.strictObject(shape) as unknown as z.ZodType<V>;
  const flags = ['-P', '-F', keys.map((key) => idFormats[key]).join(' ')];
  return Object.freeze({
    name,
    schema,
    ask: () => flags,
    read: (reply: Reply) => {
      // What a user's hooks print comes along, after the command's own line.
      for (const line of linesOf(reply.stdout)) {
        const ids = line.split(' ');
        const parsed = schema.safeParse(Object.fromEntries(keys.map((key, i) => [key, ids[i]])));
        if (parsed.success && ids.length === keys.length) return parsed.data;
      }
      throw new TmuxError(
        'protocol',
        `tmux printed ${JSON.stringify(reply.stdout)}, and no line of only ${keys.join(', ')}; what was asked for may exist.`,
        { stdout: reply.stdout },
      );
    },
  });
}

export const createdSession: Outcome<CreatedSession> = created('CreatedSession', [
  'sessionId',
  'windowId',
  'paneId',
]);
export const createdWindow: Outcome<CreatedWindow> = created('CreatedWindow', ['windowId', 'paneId']);
export const createdPane: Outcome<CreatedPane> = created('CreatedPane', ['paneId']);
