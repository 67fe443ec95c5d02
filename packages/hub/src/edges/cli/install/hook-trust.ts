import { createHash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { type Change, undone } from './change.ts';
import { changed, type Document, editors, isTable, readDocument } from './document.ts';
import type { Data } from './editor.ts';
import type { Receipts } from './receipts.ts';

// Codex 0.166 passes over hooks that its user has not trusted, without a word. What it trusts stands in its
// config.toml, by the place of the hook and the digest of what it does.

const table = 'hooks.state';

/** By the name of each hook, the digest that trusts it. */
export type Trust = Readonly<Record<string, string>>;

/** What trusts one entry: its file, its event, and its place in the list of that event. */
export function trustOf(hooksFile: string, event: string, index: number, entry: Data): [string, string] {
  const [handler = {}] = entry.hooks as readonly Data[];
  const event_name = event.replace(/(?!^)[A-Z]/g, (letter) => `_${letter}`).toLowerCase();
  const identity = { event_name, hooks: [sorted({ async: false, ...handler })] };
  const sum = createHash('sha256').update(JSON.stringify(identity)).digest('hex');
  return [`${hooksFile}:${event_name}:${index}:0`, `sha256:${sum}`];
}

function sorted(data: Data): Data {
  return Object.fromEntries(Object.entries(data).sort(([a], [b]) => (a < b ? -1 : 1)));
}

export function lookForTrust(path: string): Document {
  return readDocument(path, 'toml');
}

function statesIn({ data }: Pick<Document, 'data'>): Data {
  const hooks = isTable(data.hooks) ? data.hooks : {};
  return isTable(hooks.state) ? hooks.state : {};
}

function hashIn(states: Data, key: string): unknown {
  const state = Object.hasOwn(states, key) ? states[key] : undefined;
  return isTable(state) ? state.trusted_hash : undefined;
}

export function missingTrust(document: Document, trust: Trust): readonly string[] {
  const states = statesIn(document);
  return Object.keys(trust).filter((key) => hashIn(states, key) !== trust[key]);
}

export function withTrust(document: Document, trust: Trust): Change {
  const states = { ...statesIn(document) };
  let { text } = document;
  for (const key of missingTrust(document, trust)) {
    const present = Object.hasOwn(states, key) && isTable(states[key]) ? states[key] : {};
    states[key] = { ...present, trusted_hash: trust[key] };
    text = editors.toml.put(text, table, key, states[key] as Data);
  }
  return saying(document, text, states, 'Trust the hooks in Codex itself, with /hooks.');
}

interface Revoking {
  readonly hooksFile: string;
  readonly digests: readonly string[];
  /** For the receipt. */
  readonly what: string;
  readonly receipts: Receipts;
}

/** Of the hooks in a file, those that hold one of our digests, wherever they have moved to. */
export function withoutTrust(
  document: Document,
  { hooksFile, digests, what, receipts }: Revoking,
): Change | undefined {
  const states = statesIn(document);
  const gone = Object.keys(states).filter(
    (key) => key.startsWith(`${hooksFile}:`) && digests.includes(hashIn(states, key) as string),
  );
  if (gone.length === 0) return undefined;
  const exact = undone(document.file, what, receipts);
  if (exact) return exact;
  const text = gone.reduce((left, key) => editors.toml.cut(left, table, key, true), document.text);
  const kept = Object.fromEntries(Object.entries(states).filter(([key]) => !gone.includes(key)));
  return saying(document, text, kept, 'Remove it by hand.');
}

function saying(document: Document, text: string, states: Data, hint: string): Change {
  const wanted = withStates(document.data, states);
  const says = (data: Data): boolean => isDeepStrictEqual(withStates(data, statesIn({ data })), wanted);
  return changed(document, text, { table, says, hint });
}

/** Tables that hold nothing say nothing, and TOML makes and forgets them by itself. */
function withStates({ hooks, ...others }: Data, states: Data): Data {
  const { state: _, ...rest } = isTable(hooks) ? hooks : {};
  const filled = { ...rest, ...(Object.keys(states).length > 0 && { state: states }) };
  return { ...others, ...(Object.keys(filled).length > 0 && { hooks: filled }) };
}
