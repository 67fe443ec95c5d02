import type { CaptureKind } from '@polyphony/protocol';
import type { Adapter, Places, StateRule } from './adapters/adapter.ts';
import { adapters } from './adapters/adapters.ts';

/** What an event says in our words. Long texts are cut here; the payload beside it has all of them. */
export interface Normalised {
  readonly kind: CaptureKind;
  /** The event's own name; empty where it has none. */
  readonly event: string;
  readonly session: string | null;
  /** Prompts and what a person answers are the person's, everything else the agent's. */
  readonly by: 'user' | 'agent';
  readonly turn?: string;
  readonly subagent?: string;
  readonly cwd?: string;
  readonly text?: string;
  readonly tool?: string;
  readonly input?: string;
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
const fields = [
  'text',
  'tool',
  'input',
  'result',
  'call',
  'error',
  'reason',
] as const satisfies readonly (keyof Places)[];

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
  const kind = special?.kind ?? rule.kind;
  const found = Object.fromEntries(
    fields.flatMap((field) => {
      const text = rule[field] === undefined ? undefined : textAt(payload, rule[field]);
      return text === undefined ? [] : [[field, text]];
    }),
  ) as Partial<Normalised>;
  const byAPerson =
    kind === 'prompt'
      ? adapter.notByAPerson?.test(found.text ?? '') !== true
      : (special?.by ?? rule.by) === 'user';
  const state = special ? special.state : (rule.state ?? null);
  return {
    normalised: { ...known, ...found, kind, by: byAPerson ? 'user' : 'agent' },
    // What a subagent does is not what the agent does.
    state: known.subagent === undefined ? state : null,
  };
}

function aroundOf(adapter: Adapter, payload: unknown): Partial<Normalised> {
  const [session, turn, subagent, cwd] = [adapter.session, adapter.turn, adapter.subagent, adapter.cwd].map(
    (place) => (place === undefined ? undefined : textAt(payload, place)),
  );
  return {
    session: session ?? null,
    ...(turn !== undefined && { turn }),
    ...(subagent !== undefined && { subagent }),
    ...(cwd !== undefined && { cwd }),
  };
}

/** What stands in a place, as text that can be stored: cut where it is long, JSON where it is no text. */
function textAt(payload: unknown, place: string): string | undefined {
  let value = payload;
  for (const step of place.split('.')) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, step)) return undefined;
    value = (value as Readonly<Record<string, unknown>>)[step];
  }
  if (value === undefined || value === null) return undefined;
  const text = typeof value === 'string' ? value : writeBounded(value);
  return storable(text.length > longest ? `${text.slice(0, longest)}…` : text);
}

/** A text as every database takes it. */
export function storable(text: string): string {
  return text.toWellFormed().replaceAll('\0', '␀');
}

/** As JSON; what is nested too deep to be written says so instead. */
function writeBounded(value: unknown): string {
  try {
    return JSON.stringify(value);
  } catch {
    return '[nested too deep to be shown]';
  }
}

/** Whatever the bytes are, something comes of them; the bytes themselves are kept beside it. */
export function parsePayload(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8'));
  } catch {
    return undefined;
  }
}
