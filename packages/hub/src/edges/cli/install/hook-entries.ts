import { isDeepStrictEqual } from 'node:util';
import { PolyError } from '@polyphony/protocol';
import { shellWord } from '../shell-word.ts';
import { type Change, undone } from './change.ts';
import { changed, type Document, isTable, readDocument, sayingJust, tableIn } from './document.ts';
import { cutAt, isEmptyAt, type Path, putAt } from './edit-json.ts';
import type { Data } from './editor.ts';
import type { HookShape } from './hook-shape.ts';
import type { Receipts } from './receipts.ts';

const table = 'hooks';

/** What is wanted of one file. */
export interface Wish {
  readonly shape: HookShape;
  readonly events: readonly string[];
  /** What every entry starts, and how its program is known in entries that were changed. */
  readonly command: string;
  readonly script: string;
}

/** An item of an event's list that starts our program. */
interface Item {
  readonly event: string;
  readonly index: number;
  /** Whether it is as poly writes it. */
  readonly intact: boolean;
  /** Itself, or the part of it that is ours where others share it. */
  readonly place: Path;
}

export interface FoundHooks extends Document {
  readonly items: readonly Item[];
  readonly missing: readonly string[];
  /** Events whose entry is not as poly writes it. */
  readonly drifted: readonly string[];
}

export function lookForHooks(path: string, wish: Wish): FoundHooks {
  const document = readDocument(path, 'json');
  const items = itemsIn(document, wish);
  const intact = new Set(items.filter((item) => item.intact).map(({ event }) => event));
  const drifted = [...new Set(items.filter((item) => !item.intact).map(({ event }) => event))];
  const missing = wish.events.filter((event) => !intact.has(event) && !drifted.includes(event));
  return { ...document, items, missing, drifted };
}

/** What stands in the file, or is to stand there after a change. */
export function itemsIn(document: Document, wish: Wish): readonly Item[] {
  return Object.entries(tableIn(document, table, 'hooks')).flatMap(([event, list]) =>
    itemsOf(event, list, wish, document.file.path),
  );
}

function itemsOf(event: string, list: unknown, wish: Wish, path: string): readonly Item[] {
  if (!Array.isArray(list)) {
    // Settings that some clients keep beside their events are none of ours.
    if (!wish.events.includes(event)) return [];
    throw new PolyError('conflict', `hooks.${event} in ${path} is no list of hooks. Nothing was changed.`, {
      hint: 'Mend it, then try again.',
    });
  }
  return list.flatMap((item: unknown, index): readonly Item[] => {
    const parts = isTable(item) && Array.isArray(item.hooks) ? item.hooks : undefined;
    const at = (parts ?? [item]).findIndex((part) => startsOurs(part, wish.script));
    if (at < 0) return [];
    const intact =
      wish.events.includes(event) && isDeepStrictEqual(item, wish.shape.entry(wish.command, event));
    const whole = [table, event, index];
    return [{ event, index, intact, place: parts && parts.length > 1 ? [...whole, 'hooks', at] : whole }];
  });
}

function startsOurs(part: unknown, script: string): boolean {
  return (
    isTable(part) &&
    typeof part.command === 'string' &&
    [script, shellWord(script)].some((word) => (part.command as string).includes(word))
  );
}

/** The file with an entry for every event; those that were changed are written anew. */
export function withHooks(found: FoundHooks, { shape, events, command }: Wish): Change {
  const heading = Object.entries(shape.heading ?? {}).filter(([key]) => !Object.hasOwn(found.data, key));
  const draft = new Draft(found);
  for (const [key, value] of heading) draft.put([key], value);
  const drifted = found.items.filter(({ intact }) => !intact);
  for (const { place } of drifted.toReversed()) draft.cut(place);
  for (const event of events) {
    const list = draft.listOf(event);
    const entry = shape.entry(command, event);
    if (!list.some((item) => isDeepStrictEqual(item, entry))) draft.put([table, event, list.length], entry);
  }
  return draft.change('Add them by hand, as --dry-run shows them for an empty home.');
}

/** The file without them: to the byte as it was, or else with all that has come since. */
export function withoutHooks(found: FoundHooks, what: string, receipts: Receipts): Change {
  const exact = undone(found.file, what, receipts);
  if (exact) return exact;
  const { made, madeTable = true } = receipts.find(found.file.path, what) ?? {};
  const draft = new Draft(found);
  for (const { place } of found.items.toReversed()) draft.cut(place);
  for (const event of new Set(found.items.map((item) => item.event)))
    if (made?.includes(event) ?? true) draft.cutEmpty([table, event]);
  if (madeTable) draft.cutEmpty([table]);
  return draft.change('Remove them by hand.');
}

/** The lists that are not there yet. */
export function listsToMake({ data }: Document, { events }: Wish): readonly string[] {
  const present = data[table];
  return events.filter((event) => !isTable(present) || !Object.hasOwn(present, event));
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
