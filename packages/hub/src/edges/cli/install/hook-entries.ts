import { isDeepStrictEqual } from 'node:util';
import { PolyError } from '@polyphony/protocol';
import { shellWord } from '../shell-word.ts';
import { type Change, undone } from './change.ts';
import { changed, type Document, isTable, readDocument, sayingJust, tableIn } from './document.ts';
import { cutAt, isEmptyAt, type Path, putAt } from './edit-json.ts';
import type { Data } from './editor.ts';
import { type HookScriptName, hookScriptNames, type WishedHook } from './hook-shape.ts';
import type { Receipts } from './receipts.ts';
import { type LineState, lineState, type WishedLine } from './status-line-entry.ts';

const table = 'hooks';

/** What is wanted of one file. */
export interface Wish {
  readonly hooks: readonly WishedHook[];
  /** What the file needs beside them. */
  readonly heading: Data;
  readonly line?: WishedLine | undefined;
  /** How our programs are known, also in entries that were changed. */
  readonly pathOf: (script: HookScriptName) => string;
}

/** An item of an event's list that starts one of our programs. */
interface Item extends Pick<WishedHook, 'event' | 'script'> {
  readonly index: number;
  /** Whether it is as poly writes it. */
  readonly intact: boolean;
  /** Itself, or the part of it that is ours where others share it. */
  readonly place: Path;
}

export interface FoundHooks extends Document {
  readonly items: readonly Item[];
  readonly missing: readonly WishedHook[];
  /** Those that are not as poly writes them. */
  readonly drifted: readonly Item[];
  /** Undefined where none is wanted. */
  readonly line: LineState | undefined;
}

export function lookForHooks(path: string, wish: Wish): FoundHooks {
  const document = readDocument(path, 'json');
  const items = itemsIn(document, wish);
  const drifted = items.filter(({ intact }) => !intact);
  const missing = wish.hooks.filter((hook) => !items.some((item) => isSame(item, hook)));
  return { ...document, items, missing, drifted, line: wish.line && lineState(document.data, wish.line) };
}

type Named = Pick<WishedHook, 'event' | 'script'>;

export const isSame = (a: Named, b: Named): boolean => a.event === b.event && a.script === b.script;

/** What stands in the file, or is to stand there after a change. */
export function itemsIn(document: Document, wish: Wish): readonly Item[] {
  return Object.entries(tableIn(document, table, 'hooks')).flatMap(([event, list]) =>
    itemsOf(event, list, wish, document.file.path),
  );
}

function itemsOf(event: string, list: unknown, wish: Wish, path: string): readonly Item[] {
  if (!Array.isArray(list)) {
    // Settings that some clients keep beside their events are none of ours.
    if (!wish.hooks.some((hook) => hook.event === event)) return [];
    throw new PolyError('conflict', `hooks.${event} in ${path} is no list of hooks. Nothing was changed.`, {
      hint: 'Mend it, then try again.',
    });
  }
  return list.flatMap((item: unknown, index): readonly Item[] => {
    const whole = [table, event, index];
    const parts: readonly unknown[] = isTable(item) && Array.isArray(item.hooks) ? item.hooks : [item];
    const ours = parts.flatMap((part, at) => {
      const script = scriptOf(part, wish);
      return script ? [{ script, place: [...whole, 'hooks', at] }] : [];
    });
    const [first] = ours;
    if (!first || ours.length < parts.length)
      return ours.map((part) => ({ event, index, intact: false, ...part }));
    const { script } = first;
    const entry = wish.hooks.find((hook) => isSame(hook, { event, script }))?.entry;
    return [{ event, index, script, intact: isDeepStrictEqual(item, entry), place: whole }];
  });
}

/** Which of our programs a hook starts. */
function scriptOf(part: unknown, { pathOf }: Wish): HookScriptName | undefined {
  const command = isTable(part) ? part.command : undefined;
  if (typeof command !== 'string') return undefined;
  return hookScriptNames.find((name) =>
    [pathOf(name), shellWord(pathOf(name))].some((word) => command.includes(word)),
  );
}

/** The file with every entry; those that were changed are written anew. */
export function withHooks(found: FoundHooks, { hooks, heading, line }: Wish): Change {
  const draft = new Draft(found);
  for (const [key, value] of Object.entries(heading))
    if (!Object.hasOwn(found.data, key)) draft.put([key], value);
  for (const { place } of found.drifted.toReversed()) draft.cut(place);
  for (const { event, entry } of hooks) {
    const list = draft.listOf(event);
    if (!list.some((item) => isDeepStrictEqual(item, entry))) draft.put([table, event, list.length], entry);
  }
  if (line && isToWrite(found)) draft.put([line.key], line.entry);
  return draft.change('Add them by hand, as --dry-run shows them for an empty home.');
}

/** The file without them: to the byte as it was, or else with all that has come since. */
export function withoutHooks(
  found: FoundHooks,
  what: string,
  receipts: Receipts,
  line: WishedLine | undefined,
): Change {
  const exact = undone(found.file, what, receipts);
  if (exact) return exact;
  const { made, madeTable = true } = receipts.find(found.file.path, what) ?? {};
  const draft = new Draft(found);
  for (const { place } of found.items.toReversed()) draft.cut(place);
  for (const event of new Set(found.items.map((item) => item.event)))
    if (made?.includes(event) ?? true) draft.cutEmpty([table, event]);
  if (madeTable) draft.cutEmpty([table]);
  if (line && hasOurLine(found)) draft.cut([line.key]);
  return draft.change('Remove them by hand.');
}

/** Whether the status line is still to be written, or anew. */
const isToWrite = ({ line }: Pick<FoundHooks, 'line'>): boolean => line === 'none' || line === 'outdated';

export const hasOurLine = ({ line }: Pick<FoundHooks, 'line'>): boolean =>
  line === 'ours' || line === 'outdated';

/** Whether nothing is left to be written. */
export const isWhole = (found: FoundHooks): boolean =>
  found.missing.length === 0 && found.drifted.length === 0 && !isToWrite(found);

/** The lists that are not there yet. */
export function listsToMake({ data }: Document, { hooks }: Wish): readonly string[] {
  const present = data[table];
  const events = new Set(hooks.map(({ event }) => event));
  return [...events].filter((event) => !isTable(present) || !Object.hasOwn(present, event));
}

/** Changes the text and, apart from it, what it says, so that each proves the other. */
class Draft {
  readonly #document: Document;
  readonly #data: Data;
  #text: string;

  constructor(document: Document) {
    this.#document = document;
    this.#text = document.text;
    this.#data = structuredClone(document.data);
  }

  listOf(event: string): readonly unknown[] {
    const lists = this.#data[table];
    return isTable(lists) && Object.hasOwn(lists, event) ? (lists[event] as readonly unknown[]) : [];
  }

  put(path: Path, value: unknown): void {
    this.#text = putAt(this.#text, path, value);
    const [key = '', event, index] = path;
    if (event === undefined) Object.assign(this.#data, { [key]: value });
    else {
      const lists = (this.#data[table] ?? {}) as Record<string, unknown>;
      Object.assign(this.#data, { [table]: lists });
      lists[event] = [...this.listOf(String(event)).slice(0, Number(index)), value];
    }
  }

  cut(path: Path): void {
    this.#text = cutAt(this.#text, path);
    const key = path.at(-1) ?? '';
    const holder = path.slice(0, -1).reduce<unknown>((inner, part) => (inner as Data)[part], this.#data);
    if (Array.isArray(holder)) holder.splice(Number(key), 1);
    else delete (holder as Record<string, unknown>)[key];
  }

  cutEmpty(path: Path): void {
    if (isEmptyAt(this.#text, path)) this.cut(path);
  }

  change(hint: string): Change {
    return changed(this.#document, this.#text, { table, says: sayingJust(this.#data), hint });
  }
}
