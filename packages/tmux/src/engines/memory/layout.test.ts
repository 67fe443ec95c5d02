import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  type Cell,
  isLeaf,
  placesOf,
  removePane,
  renamePanes,
  resize,
  resizePane,
  splitPane,
  splitWhole,
} from './layout.ts';
import { presets } from './layout-presets.ts';
import { readLayout, writeLayout } from './layout-text.ts';

const axis = fc.constantFrom('row' as const, 'column' as const);
const step = fc.oneof(
  fc.record({
    act: fc.constant('split' as const),
    pane: fc.nat(),
    axis,
    before: fc.boolean(),
    whole: fc.boolean(),
    size: fc.option(fc.integer({ min: 1, max: 60 }), { nil: undefined }),
  }),
  fc.record({ act: fc.constant('remove' as const), pane: fc.nat() }),
  fc.record({
    act: fc.constant('resizePane' as const),
    pane: fc.nat(),
    axis,
    change: fc.integer({ min: -30, max: 30 }),
  }),
  fc.record({
    act: fc.constant('resize' as const),
    width: fc.integer({ min: 60, max: 200 }),
    height: fc.integer({ min: 40, max: 90 }),
  }),
);
type Step = typeof step extends fc.Arbitrary<infer S> ? S : never;

/** A layout after some steps, of which those that find no room change nothing. */
function build(steps: readonly Step[]): Cell {
  let root: Cell = { pane: 0, width: 120, height: 50 };
  steps.forEach((one, i) => {
    const panes = [...placesOf(root).keys()];
    if (one.act === 'resize') root = resize(root, one.width, one.height);
    else {
      const pane = panes[one.pane % panes.length] ?? 0;
      if (one.act === 'remove') root = removePane(root, pane, i % 2 === 0) ?? root;
      else if (one.act === 'resizePane') root = resizePane(root, pane, one.axis, one.change);
      else {
        const split = { axis: one.axis, pane: i + 1, before: one.before, size: one.size };
        root = (one.whole ? splitWhole(root, split) : splitPane(root, pane, split)) ?? root;
      }
    }
  });
  return root;
}

/** Every branch is filled by its cells and the borders between them, and no cell is empty. */
function isFilled(cell: Cell): boolean {
  if (cell.width < 1 || cell.height < 1) return false;
  if (isLeaf(cell)) return true;
  const borders = cell.cells.length - 1;
  const [along, across] =
    cell.axis === 'row' ? (['width', 'height'] as const) : (['height', 'width'] as const);
  const sum = cell.cells.reduce((total, inner) => total + inner[along], borders);
  return (
    borders > 0 &&
    sum === cell[along] &&
    cell.cells.every((inner) => inner[across] === cell[across] && isFilled(inner))
  );
}

test('whatever is split, removed and resized, the panes fill their window', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 30 }), (steps) => {
      expect(isFilled(build(steps))).toBe(true);
    }),
  );
});

test('a layout is read back from its text', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 30 }), (steps) => {
      const root = build(steps);
      const order = [...placesOf(root).keys()];
      expect(readLayout(writeLayout(root))).toEqual(renamePanes(root, (pane) => order.indexOf(pane)));
    }),
  );
});

test('a text that is no layout, or was changed, is refused', () => {
  expect(readLayout('even-horizontal')).toBeNull();
  expect(readLayout('b25d,80x25,0,0,0')).toBeNull();
  expect(readLayout('b25d,80x24,0,0,0')).toEqual({ pane: 0, width: 80, height: 24 });
});

test('every preset fills the window with all panes', () => {
  fc.assert(
    fc.property(fc.constantFrom(...Object.keys(presets)), fc.integer({ min: 1, max: 12 }), (name, count) => {
      const panes = Array.from({ length: count }, (_, i) => i);
      const made = presets[name]?.(panes, { width: 120, height: 50, mainWidth: 80, mainHeight: 24 });
      expect(made && isFilled(made)).toBe(true);
      expect(made && [...placesOf(made).keys()].toSorted((a, b) => a - b)).toEqual(panes);
    }),
  );
});
