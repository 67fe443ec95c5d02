import type { CreatedPane, CreatedWindow } from '../operation/outcome.ts';
import type { Target } from '../operation/target.ts';
import { newWindow } from '../operations/new-window.ts';
import { selectLayout } from '../operations/select-layout.ts';
import { selectPane } from '../operations/select-pane.ts';
import { sendKeys } from '../operations/send-keys.ts';
import { setWindowOption } from '../operations/set-window-option.ts';
import { splitWindow } from '../operations/split-window.ts';
import type { Plan } from '../plan/plan.ts';
import type { CreatedBy, Slot } from '../plan/slot.ts';
import type { Variables, WorkspacePane, WorkspaceWindow } from './workspace.ts';

export type SlotOf<V> = Slot<CreatedBy<V>>;
export type PaneRef = SlotOf<CreatedPane>['pane'];

export interface CompiledWindow {
  readonly window: WorkspaceWindow;
  readonly slot: SlotOf<CreatedWindow>;
  /** In the order of the file; floats after all others. */
  readonly panes: readonly PaneRef[];
}

/** How long a shell may take to draw its prompt. */
const promptTimeoutMs = 2000;

/** Opens a window with its first pane. */
export function openWindow(
  plan: Plan,
  { name, panes: [first] }: WorkspaceWindow,
  target: Target,
): SlotOf<CreatedWindow> {
  return plan.add(newWindow({ target, ...(name !== undefined && { name }), ...(first && processOf(first)) }));
}

/** Fills an open window: all panes first, so that programs start in their final size; then what is typed into them. */
export function fillWindow(
  plan: Plan,
  window: WorkspaceWindow,
  slot: SlotOf<CreatedWindow>,
  waitPane: boolean,
): CompiledWindow {
  setAll(plan, slot, window.options);
  const panes = splitAll(plan, window, slot);
  for (const [i, ref] of panes.entries()) typeInto(plan, window.panes[i] as WorkspacePane, ref, waitPane);
  const focused = panes[window.panes.findLastIndex((pane) => pane.focus)];
  if (focused) plan.add(selectPane({ target: focused }));
  setAll(plan, slot, window.optionsAfter);
  return { window, slot, panes };
}

/** What a pane's process is started with. */
export function processOf({ startDirectory, environment, shell }: WorkspacePane): {
  readonly startDirectory: string;
  readonly environment?: Variables;
  readonly shell?: string;
} {
  return {
    startDirectory,
    ...(Object.keys(environment).length > 0 && { environment }),
    ...(shell !== undefined && { shell }),
  };
}

/** Types the commands of a pane as text, never as names of keys, and sleeps where it is told to. */
export function typeInto(plan: Plan, pane: WorkspacePane, target: PaneRef, waitPane: boolean): void {
  if (waitPane && pane.commands.length > 0 && pane.shell === undefined) {
    plan.host({ type: 'wait_pane', target, timeoutMs: promptTimeoutMs });
  }
  sleep(plan, pane.sleepBeforeMs);
  for (const { text, enter, sleepBeforeMs, sleepAfterMs } of pane.commands) {
    sleep(plan, sleepBeforeMs);
    if (text !== '')
      plan.add(sendKeys({ target, literal: true, keys: [pane.suppressHistory ? ` ${text}` : text] }));
    if (enter) plan.add(sendKeys({ target, keys: ['Enter'] }));
    sleep(plan, sleepAfterMs);
  }
  sleep(plan, pane.sleepAfterMs);
}

function splitAll(
  plan: Plan,
  { panes, layout }: WorkspaceWindow,
  slot: SlotOf<CreatedWindow>,
): readonly PaneRef[] {
  let last: PaneRef = slot.pane;
  const refs = [last];
  for (const [i, pane] of panes.entries()) {
    if (i === 0) continue;
    last = plan.add(splitWindow({ target: last, select: true, ...processOf(pane) })).pane;
    refs.push(last);
    // Tiles leave the most room for the next split; the declared layout follows the last one.
    const arranged = i === panes.length - 1 ? layout : 'tiled';
    if (layout !== undefined && arranged !== undefined)
      plan.add(selectLayout({ target: slot.self, layout: arranged }));
  }
  return refs;
}

function setAll(plan: Plan, slot: SlotOf<CreatedWindow>, options: Variables): void {
  for (const [option, value] of Object.entries(options))
    plan.add(setWindowOption({ target: slot.self, option, value }));
}

function sleep(plan: Plan, ms: number): void {
  if (ms > 0) plan.host({ type: 'sleep', ms });
}
