import { Operation } from '../operation/operation.ts';
import type { CreatedPane, CreatedSession, CreatedWindow } from '../operation/outcome.ts';
import { isSlot, type PaneId, type SessionId, type SlotRef, type WindowId } from '../operation/target.ts';

export type ObjectId = SessionId | WindowId | PaneId;
/** What the slots of a plan stand for, by "slot:part". */
export type Bindings = Readonly<Record<`${number}:${SlotRef['part']}`, ObjectId>>;

/** A place in a plan that knows which id it becomes; the mark is for the compiler and never set. */
export interface Ref<Id extends ObjectId> extends SlotRef {
  readonly becomes?: Id;
}

interface SlotParts {
  readonly session: {
    readonly self: Ref<SessionId>;
    readonly window: Ref<WindowId>;
    readonly pane: Ref<PaneId>;
  };
  readonly window: {
    readonly self: Ref<WindowId>;
    readonly window: Ref<WindowId>;
    readonly pane: Ref<PaneId>;
  };
  readonly pane: { readonly self: Ref<PaneId>; readonly pane: Ref<PaneId> };
}

/** A step of a plan, with the parts of what it creates: a session comes with its first window and pane. */
export type Slot<K extends keyof SlotParts | null = null> = {
  readonly index: number;
} & (K extends keyof SlotParts ? SlotParts[K] : unknown);

/** Which kind of object an operation creates, from the type of its answer. */
export type CreatedBy<V> = V extends CreatedSession
  ? 'session'
  : V extends CreatedWindow
    ? 'window'
    : V extends CreatedPane
      ? 'pane'
      : null;

/** For each kind of created object: its parts, and the ids they are. */
const parts: Readonly<
  Record<keyof SlotParts, Readonly<Partial<Record<SlotRef['part'], keyof CreatedSession>>>>
> = {
  session: { self: 'sessionId', window: 'windowId', pane: 'paneId' },
  window: { self: 'windowId', window: 'windowId', pane: 'paneId' },
  pane: { self: 'paneId', pane: 'paneId' },
};

function partsOf(operation: Operation): [part: SlotRef['part'], id: keyof CreatedSession][] {
  const { creates } = operation.spec;
  return creates ? (Object.entries(parts[creates]) as [SlotRef['part'], keyof CreatedSession][]) : [];
}

export function slotOf(index: number, operation?: Operation): Slot {
  const refs = (operation ? partsOf(operation) : []).map(([part]) => [
    part,
    Object.freeze({ slot: index, part }),
  ]);
  return Object.freeze({ index, ...Object.fromEntries(refs) });
}

export function hasPart(operation: Operation, part: SlotRef['part']): boolean {
  return partsOf(operation).some(([own]) => own === part);
}

/** The bindings of one slot from the ids its operation answered with; undefined when one of them is missing. */
export function bindingsOf(
  index: number,
  creator: Operation,
  ids: Partial<CreatedSession>,
): Bindings | undefined {
  const pairs = partsOf(creator).map(([part, id]) => [`${index}:${part}`, ids[id]] as const);
  return pairs.every(([, id]) => id !== undefined) ? (Object.fromEntries(pairs) as Bindings) : undefined;
}

const marks: Readonly<Record<string, keyof CreatedSession>> = {
  $: 'sessionId',
  '@': 'windowId',
  '%': 'paneId',
};

/** The ids among the words of a text: `$1 @2 %3`. The mark of each says what it is. */
export function idsIn(text: string): Partial<CreatedSession> {
  const ids = text.split(/\s+/).filter((word) => /^[$@%]\d+$/.test(word));
  return Object.fromEntries(ids.map((id) => [marks[id.charAt(0)], id]));
}

/** A number, because a table of variables may well hold the names `slot` and `part`. */
export function isSlotRef(value: unknown): value is SlotRef {
  return isSlot(value) && typeof value.slot === 'number';
}

export function refsOf(params: unknown): SlotRef[] {
  return Object.values(params as object).filter(isSlotRef);
}

/** The same operation with ids, or whatever `place` answers, where it named slots. */
export function bindOperation(operation: Operation, place: (ref: SlotRef) => string): Operation {
  if (refsOf(operation.params).length === 0) return operation;
  const bound = Object.entries(operation.params as object).map(([name, value]) => [
    name,
    isSlotRef(value) ? place(value) : value,
  ]);
  return new Operation(operation.spec, Object.freeze(Object.fromEntries(bound)));
}
