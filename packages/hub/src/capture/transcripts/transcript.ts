/** An event that an agent has kept itself, in the words in which its hooks would have told it. */
export interface KeptEvent {
  /** What the agent calls it: another in the same conversation has another. */
  readonly id: string;
  readonly at: number;
  readonly payload: Readonly<Record<string, unknown>>;
}

/** Something that could not be read, beside what could. */
export interface Trouble {
  readonly trouble: string;
}

/** Why a transcript is not read at all. */
export class Refused extends Error {}

/** Where an agent keeps what was said, and what that means in the words of its hooks, as of the version named. */
export interface TranscriptKind {
  /** The folder that holds all of them, by the variables of the agent's process. */
  readonly folder: (env: Readonly<Record<string, string | undefined>>) => string;
  /** The way from there to that of a conversation, name by name. */
  readonly way: (conversation: string) => readonly RegExp[];
  readonly read: (path: string, conversation: string) => AsyncIterable<KeptEvent | Trouble>;
}

/** Letters that an agent's own names for conversations have: nothing that would lead elsewhere. */
export const plainName: RegExp = /^[A-Za-z0-9_-]{8,100}$/;

/** A time as agents write it: in ISO 8601, or in milliseconds; nothing where it is none. */
export function timeOf(value: unknown): number | undefined {
  const at = typeof value === 'number' ? value : typeof value === 'string' ? Date.parse(value) : Number.NaN;
  return Number.isFinite(at) && at > 0 ? at : undefined;
}

export type Fields = Readonly<Record<string, unknown>>;

/** The fields of an object; of anything else none. */
export const fieldsOf = (value: unknown): Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : {};

/** The parts of a list; of anything else none. */
export const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

export const textOf = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);

/** The words in the parts of what was said. */
export const wordsIn = (content: unknown): readonly string[] =>
  listOf(content).flatMap((part) => textOf(fieldsOf(part).text) ?? []);
