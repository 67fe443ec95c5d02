import type { Axis, Cell } from './layout.ts';

interface Area {
  readonly width: number;
  readonly height: number;
  /** What the options main-pane-width and main-pane-height ask for. */
  readonly mainWidth: number;
  readonly mainHeight: number;
}

type Preset = (panes: readonly number[], area: Area) => Cell;

/** tmux's layouts by name. */
export const presets: Readonly<Record<string, Preset>> = {
  'even-horizontal': (panes, area) => even('row', panes, area),
  'even-vertical': (panes, area) => even('column', panes, area),
  'main-horizontal': (panes, area) => main('column', panes, area, false),
  'main-horizontal-mirrored': (panes, area) => main('column', panes, area, true),
  'main-vertical': (panes, area) => main('row', panes, area, false),
  'main-vertical-mirrored': (panes, area) => main('row', panes, area, true),
  tiled,
};

/** The sizes of `count` cells that share a length with a border between them; the first ones get what is over. */
function shares(length: number, count: number): readonly number[] {
  const free = length - (count - 1);
  const each = Math.max(Math.floor(free / count), 1);
  const over = Math.max(free - each * count, 0);
  return Array.from({ length: count }, (_, i) => each + (i < over ? 1 : 0));
}

function stack(
  axis: Axis,
  cells: readonly Cell[],
  { width, height }: { width: number; height: number },
): Cell {
  return cells.length === 1 ? (cells[0] as Cell) : { axis, cells, width, height };
}

function even(
  axis: Axis,
  panes: readonly number[],
  { width, height }: { width: number; height: number },
): Cell {
  const sizes = shares(axis === 'row' ? width : height, panes.length);
  const cells = panes.map((pane, i): Cell => {
    const size = sizes[i] ?? 1;
    return { pane, width: axis === 'row' ? size : width, height: axis === 'column' ? size : height };
  });
  return stack(axis, cells, { width, height });
}

function main(axis: Axis, [first = 0, ...others]: readonly number[], area: Area, mirrored: boolean): Cell {
  const { width, height } = area;
  if (others.length === 0) return { pane: first, width, height };
  const free = (axis === 'row' ? width : height) - 1;
  const size = Math.max(Math.min(axis === 'row' ? area.mainWidth : area.mainHeight, free - 1), 1);
  const sized = (part: number): { width: number; height: number } =>
    axis === 'row' ? { width: part, height } : { width, height: part };
  const cells: Cell[] = [
    { pane: first, ...sized(size) },
    even(axis === 'row' ? 'column' : 'row', others, sized(free - size)),
  ];
  return { axis, cells: mirrored ? cells.reverse() : cells, width, height };
}

function tiled(panes: readonly number[], { width, height }: Area): Cell {
  let [rows, columns] = [1, 1];
  while (rows * columns < panes.length) {
    rows += 1;
    if (rows * columns < panes.length) columns += 1;
  }
  const [lines, across] = [last(shares(height, rows), height), last(shares(width, columns), width)];
  const cells = lines.slice(0, Math.ceil(panes.length / columns)).map((rowHeight, row): Cell => {
    const inRow = panes.slice(row * columns, (row + 1) * columns);
    const widths = inRow.length === columns ? across : last(across.slice(0, inRow.length), width);
    return stack(
      'row',
      inRow.map((pane, i) => ({ pane, width: widths[i] ?? 1, height: rowHeight })),
      { width, height: rowHeight },
    );
  });
  return stack('column', cells, { width, height });
}

/** Equal sizes of which the last takes all that is left of the length. */
function last(sizes: readonly number[], length: number): readonly number[] {
  const each = Math.min(...sizes);
  return sizes.map((_, i) => (i === sizes.length - 1 ? length - (each + 1) * i : each));
}
