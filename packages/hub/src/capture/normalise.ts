import type { CaptureKind } from '@polyphony/protocol';
import type { Adapter, Places, StateRule } from './adapters/adapter.ts';
import { adapters } from './adapters/adapters.ts';
import { fileChangedBy, inWords, written } from './in-words.ts';

/** What an event says in our words. Long texts are cut here; the payload beside it has all of them. */
export interface Normalised {
  readonly kind: CaptureKind;
  /** The event's own name; empty where it has none. */
  readonly event: string;
  readonly session: string | null;
  /** Prompts and what a person answers are the person's, everything else the agent's. */
  readonly by: 'user' | 'agent';
  readonly turn?: string;
  /** The sub-agent it happened in, and what kind of one that is. */
  readonly subagent?: string;
  readonly subagentType?: string;
  readonly cwd?: string;
  readonly text?: string;
  readonly tool?: string;
  /** What a tool was given, as JSON; what it does with that, in words; and the file that changes. */
  readonly input?: string;
  readonly does?: string;
  readonly file?: string;
  readonly result?: string;
  readonly call?: string;
  readonly error?: string;
  readonly reason?: string;
}

export interface Told {
  readonly normalised: Normalised;
  /** What the agent does from then on, if the event tells. */
  readonly state: StateRule | null;
}

const longest = 8_192;
/** What is told as it is, and what is told in words. */
const asItIs = ['text', 'tool', 'input', 'call', 'reason'] as const satisfies readonly (keyof Places)[];
const toldInWords = ['result', 'error'] as const satisfies readonly (keyof Places)[];

/** Reads a payload by the table of its agent; of what no table knows the name alone. */
export function normalise(agent: string, payload: unknown): Told {
  const adapter = Object.hasOwn(adapters, agent) ? adapters[agent] : undefined;
  const event = textAt(payload, 'hook_event_name') ?? textAt(payload, 'type') ?? '';
  const unknown = { kind: 'other', event, session: null, by: 'agent' } as const;
  if (!adapter) return { normalised: unknown, state: null };
  const rules = { ...adapter.kept, ...adapter.events };
  const rule = Object.hasOwn(rules, event) ? rules[event] : undefined;
  const known = { ...unknown, ...aroundOf(adapter, payload) };
  if (!rule) return { normalised: known, state: null };
  const special = rule.where?.find(({ field, is }) => is.test(textAt(payload, field) ?? ''));
  const meant = special?.kind ?? rule.kind;
  // A turn of a sub-agent is none of the agent's; that the sub-agent has ended is told apart.
  const kind = meant === 'turn_ended' && known.subagent !== undefined ? 'other' : meant;
  const found = placed(rule, payload);
  // What a sub-agent is asked its agent has written.
  const byAPerson =
    kind === 'prompt'
      ? known.subagent === undefined && adapter.notByAPerson?.test(found.text ?? '') !== true
      : (special?.by ?? rule.by) === 'user';
  const state = special ? special.state : (rule.state ?? null);
  return {
    normalised: { ...known, ...found, kind, by: byAPerson ? 'user' : 'agent' },
    // What a subagent does is not what the agent does.
    state: known.subagent === undefined ? state : null,
  };
}

function placed(rule: Places, payload: unknown): Partial<Normalised> {
  const input = rule.input === undefined ? undefined : valueAt(payload, rule.input);
  const tool = rule.tool === undefined ? undefined : textAt(payload, rule.tool);
  const told: readonly (readonly [string, string | undefined])[] = [
    ...asItIs.map((field) => [field, rule[field] && textAt(payload, rule[field])] as const),
    ...toldInWords.map((field) => [field, rule[field] && wordsAt(payload, rule[field])] as const),
    ['does', input === undefined ? undefined : cut(inWords(input))],
    ['file', fileChangedBy(tool, input)],
  ];
  return Object.fromEntries(told.filter(([, text]) => text !== undefined));
}

function aroundOf(adapter: Adapter, payload: unknown): Partial<Normalised> {
  const at = (place: string | undefined): string | undefined =>
    place === undefined ? undefined : textAt(payload, place);
  const { id, type, above } = adapter.subagent ?? {};
  const [turn, cwd, parent] = [at(adapter.turn), at(adapter.cwd), at(above)];
  const isBelow = above === undefined || parent !== undefined;
  const [subagent, subagentType] = isBelow ? [at(id), at(type)] : [];
  return {
    session: parent ?? at(adapter.session) ?? null,
    ...(turn !== undefined && { turn }),
    ...(subagent !== undefined && { subagent }),
    ...(subagentType !== undefined && { subagentType }),
    ...(cwd !== undefined && { cwd }),
  };
}

function valueAt(payload: unknown, place: string): unknown {
  let value = payload;
  for (const step of place.split('.')) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, step)) return undefined;
    value = (value as Readonly<Record<string, unknown>>)[step];
  }
  return value ?? undefined;
}

/** What stands in a place, as text: JSON where it is none. */
function textAt(payload: unknown, place: string): string | undefined {
  const value = valueAt(payload, place);
  return value === undefined ? undefined : cut(typeof value === 'string' ? value : written(value));
}

/** What stands in a place, as a person would read it. */
function wordsAt(payload: unknown, place: string): string | undefined {
  const value = valueAt(payload, place);
  return value === undefined ? undefined : cut(inWords(value));
}

/** A text that can be stored, and no longer than is read. */
const cut = (text: string): string => storable(text.length > longest ? `${text.slice(0, longest)}…` : text);

/** A text as every database takes it. */
export function storable(text: string): string {
  return text.toWellFormed().replaceAll('\0', '␀');
}

/** Whatever the bytes are, something comes of them; the bytes themselves are kept beside it. */
export function parsePayload(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8'));
  } catch {
    return undefined;
  }
}
