/** `row`: cells side by side. `column`: cells on top of each other. */
export type Axis = 'row' | 'column';

export interface Leaf {
  readonly pane: number;
  readonly width: number;
  readonly height: number;
}

interface Branch {
  readonly axis: Axis;
  readonly cells: readonly Cell[];
  readonly width: number;
  readonly height: number;
}

/** How a window is divided: a tree of sizes, in which neighbours are one column or line apart. Every change makes a new one. */
export type Cell = Leaf | Branch;

export interface Place {
  readonly left: number;
  readonly top: number;
  readonly width: number;
  readonly height: number;
}

export interface Split {
  readonly axis: Axis;
  readonly pane: number;
  readonly size?: number | undefined;
  readonly before: boolean;
}

export function isLeaf(cell: Cell): cell is Leaf {
  return 'pane' in cell;
}

function sizeOf(cell: Cell, axis: Axis): number {
  return axis === 'row' ? cell.width : cell.height;
}

function contains(cell: Cell, pane: number): boolean {
  return isLeaf(cell) ? cell.pane === pane : cell.cells.some((inner) => contains(inner, pane));
}

/** How much smaller a cell can get before a pane in it would vanish. */
function room(cell: Cell, axis: Axis): number {
  if (isLeaf(cell)) return sizeOf(cell, axis) - 1;
  const rooms = cell.cells.map((inner) => room(inner, axis));
  return cell.axis === axis ? rooms.reduce((sum, one) => sum + one, 0) : Math.min(...rooms);
}

/** The least a cell can have without a pane in it vanishing. */
function need(cell: Cell, axis: Axis): number {
  return sizeOf(cell, axis) - room(cell, axis);
}

/** Grows or shrinks a cell; cells along the axis take their share one line at a time, as in tmux. */
function adjust(cell: Cell, axis: Axis, change: number): Cell {
  const sized = { ...cell, [axis === 'row' ? 'width' : 'height']: sizeOf(cell, axis) + change } as Cell;
  if (isLeaf(sized)) return sized;
  if (sized.axis !== axis)
    return { ...sized, cells: sized.cells.map((inner) => adjust(inner, axis, change)) };
  const cells = [...sized.cells];
  const step = Math.sign(change);
  for (
    let left = Math.abs(change), i = 0, idle = 0;
    left > 0 && idle < cells.length;
    i = (i + 1) % cells.length
  ) {
    const inner = cells[i] as Cell;
    if (step < 0 && room(inner, axis) === 0) {
      idle += 1;
      continue;
    }
    cells[i] = adjust(inner, axis, step);
    idle = 0;
    left -= 1;
  }
  return { ...sized, cells };
}

/** Gives the whole layout another size, never less than its panes need. */
export function resize(root: Cell, width: number, height: number): Cell {
  const change = (cell: Cell, axis: Axis, wanted: number): Cell =>
    adjust(cell, axis, Math.max(wanted - sizeOf(cell, axis), -room(cell, axis)));
  return change(change(root, 'row', width), 'column', height);
}

/** Makes room for a new pane beside one; null when there is none. */
export function splitPane(root: Cell, beside: number, split: Split): Cell | null {
  if (isLeaf(root)) return root.pane === beside ? branchOf(root, split) : root;
  const cells: Cell[] = [];
  for (const cell of root.cells) {
    const made = contains(cell, beside) ? splitPane(cell, beside, split) : cell;
    if (made === null) return null;
    const joins = isLeaf(cell) && !isLeaf(made) && made.axis === root.axis;
    cells.push(...(joins ? made.cells : [made]));
  }
  return { ...root, cells };
}

/** The same division in another size, each cell with its share. */
function scale(cell: Cell, width: number, height: number): Cell {
  if (isLeaf(cell)) return { ...cell, width, height };
  const before = sizeOf(cell, cell.axis);
  let left = cell.axis === 'row' ? width : height;
  const cells = cell.cells.map((inner, i) => {
    const others = cell.cells.slice(i + 1);
    const kept = others.reduce((sum, other) => sum + need(other, cell.axis) + 1, 0);
    const share = Math.floor((sizeOf(inner, cell.axis) * (cell.axis === 'row' ? width : height)) / before);
    const size = others.length === 0 ? left : Math.max(Math.min(share, left - kept), need(inner, cell.axis));
    left -= size + 1;
    return cell.axis === 'row' ? scale(inner, size, height) : scale(inner, width, size);
  });
  return { ...cell, cells, width, height };
}

/** Makes room for a new pane along a whole edge of the window. */
export function splitWhole(root: Cell, split: Split): Cell | null {
  if (isLeaf(root)) return branchOf(root, split);
  const divided = branchOf({ pane: split.pane, width: root.width, height: root.height }, split);
  const at = split.before ? 1 : 0;
  const kept = divided?.cells[at];
  if (!divided || !kept || need(root, split.axis) > sizeOf(kept, split.axis)) return null;
  const scaled = scale(root, kept.width, kept.height);
  const cells = isLeaf(scaled) || root.axis !== split.axis ? [scaled] : scaled.cells;
  return { ...divided, cells: divided.cells.toSpliced(at, 1, ...cells) };
}

function branchOf(leaf: Leaf, { axis, pane, size, before }: Split): Branch | null {
  const whole = sizeOf(leaf, axis);
  if (whole < 3) return null;
  const wanted = size === undefined ? Math.floor((whole + 1) / 2) - 1 : before ? whole - size - 1 : size;
  // A pane before another that should be larger than both becomes the smallest there is: tmux counts without a sign.
  const second = wanted < 0 ? whole - 2 : Math.min(Math.max(wanted, 1), whole - 2);
  const sizes = [whole - 1 - second, second];
  const cells = (before ? [pane, leaf.pane] : [leaf.pane, pane]).map((id, i): Leaf => {
    const part = sizes[i] ?? 0;
    return {
      pane: id,
      width: axis === 'row' ? part : leaf.width,
      height: axis === 'column' ? part : leaf.height,
    };
  });
  return { axis, cells, width: leaf.width, height: leaf.height };
}

/** Takes a pane out; a neighbour gets its space: the one before it, since tmux 3.8 the one after. Null when it was the only one. */
export function removePane(root: Cell, pane: number, preferAfter: boolean): Cell | null {
  if (isLeaf(root)) return root.pane === pane ? null : root;
  const at = root.cells.findIndex((cell) => contains(cell, pane));
  const found = root.cells[at];
  if (!found) return root;
  const left = removePane(found, pane, preferAfter);
  if (left) return { ...root, cells: root.cells.with(at, left) };
  const after = preferAfter ? at < root.cells.length - 1 : at === 0;
  const heir = after ? at + 1 : at - 1;
  const cells = root.cells
    .map((cell, i) => (i === heir ? adjust(cell, root.axis, sizeOf(found, root.axis) + 1) : cell))
    .filter((_, i) => i !== at);
  return cells.length === 1 ? (cells[0] as Cell) : { ...root, cells };
}

/** The same division with other panes in it. */
export function renamePanes(root: Cell, rename: (pane: number) => number): Cell {
  if (isLeaf(root)) return { ...root, pane: rename(root.pane) };
  return { ...root, cells: root.cells.map((cell) => renamePanes(cell, rename)) };
}

/** Moves the border of a pane: the one after it, or the one before it when it is the last of its row or column. */
export function resizePane(root: Cell, pane: number, axis: Axis, change: number): Cell {
  return resizeWithin(root, pane, axis, () => change) ?? root;
}

export function resizePaneTo(root: Cell, pane: number, axis: Axis, wanted: number): Cell {
  const change = (cell: Cell, isLast: boolean): number => (wanted - sizeOf(cell, axis)) * (isLast ? -1 : 1);
  return resizeWithin(root, pane, axis, change) ?? root;
}

/** The innermost row or column around the pane does the resizing; null when there is none. */
function resizeWithin(
  cell: Cell,
  pane: number,
  axis: Axis,
  change: (cell: Cell, isLast: boolean) => number,
): Cell | null {
  if (isLeaf(cell)) return null;
  const at = cell.cells.findIndex((inner) => contains(inner, pane));
  const found = cell.cells[at];
  if (!found) return null;
  const inside = resizeWithin(found, pane, axis, change);
  if (inside) return { ...cell, cells: cell.cells.with(at, inside) };
  if (cell.axis !== axis) return null;
  const isLast = at === cell.cells.length - 1;
  return { ...cell, cells: moveBorder(cell.cells, isLast ? at - 1 : at, axis, change(found, isLast)) };
}

/** Moves the border after cell `at`, taking lines from the nearest cell that has any to give. */
function moveBorder(cells: readonly Cell[], at: number, axis: Axis, change: number): readonly Cell[] {
  const step = Math.sign(change);
  const after = cells.map((_, i) => i).slice(at + 1);
  const before = cells
    .map((_, i) => i)
    .slice(0, at)
    .reverse();
  const givers = step > 0 ? [...after, ...before] : [at, ...before];
  const taker = step > 0 ? at : at + 1;
  let result = cells;
  for (let left = Math.abs(change); left > 0; ) {
    const giver = givers.find((i) => room(result[i] as Cell, axis) > 0);
    if (giver === undefined) break;
    const part = Math.min(room(result[giver] as Cell, axis), left);
    result = result
      .with(giver, adjust(result[giver] as Cell, axis, -part))
      .with(taker, adjust(result[taker] as Cell, axis, part));
    left -= part;
  }
  return result;
}

/** Where each pane lies in the window, in the order of the tree. */
export function placesOf(root: Cell, left = 0, top = 0): ReadonlyMap<number, Place> {
  if (isLeaf(root)) return new Map([[root.pane, { left, top, width: root.width, height: root.height }]]);
  const places = new Map<number, Place>();
  let [x, y] = [left, top];
  for (const cell of root.cells) {
    for (const [pane, place] of placesOf(cell, x, y)) places.set(pane, place);
    if (root.axis === 'row') x += cell.width + 1;
    else y += cell.height + 1;
  }
  return places;
}
