import { layoutChecksum } from '../operation/layout.ts';
import type { Box } from './layout.ts';

/**
 * A layout as tmux 3.2 to 3.7 writes it, from where the panes lie: without floats, whose layouts no version reads
 * back, and the same for every version (3.8 writes another form and still reads this one).
 */
export function layoutText(boxes: readonly Box[]): string | undefined {
  const numbered = boxes.map((box, id) => ({ ...box, id }));
  const cell = cellOf(numbered);
  return cell === undefined ? undefined : `${layoutChecksum(cell)},${cell}`;
}

type Leaf = Box & { readonly id: number };

function cellOf(boxes: readonly Leaf[]): string | undefined {
  const [first] = boxes;
  if (first === undefined) return undefined;
  if (boxes.length === 1) return `${place(first)},${first.id}`;
  for (const [axis, open, close] of [
    ['left', '{', '}'],
    ['top', '[', ']'],
  ] as const) {
    const parts = cut(boxes, axis);
    if (parts.length < 2) continue;
    const cells = parts.map(cellOf);
    if (!cells.includes(undefined)) return `${place(around(boxes))}${open}${cells.join(',')}${close}`;
  }
  return undefined;
}

/** Divides boxes where a line goes through all of them without crossing one. */
function cut(boxes: readonly Leaf[], axis: 'left' | 'top'): Leaf[][] {
  const side = axis === 'left' ? 'width' : 'height';
  const parts: Leaf[][] = [];
  let end = -1;
  for (const box of boxes.toSorted((a, b) => a[axis] - b[axis])) {
    if (box[axis] > end) parts.push([box]);
    else parts.at(-1)?.push(box);
    end = Math.max(end, box[axis] + box[side]);
  }
  return parts;
}

function around(boxes: readonly Box[]): Box {
  const left = Math.min(...boxes.map((box) => box.left));
  const top = Math.min(...boxes.map((box) => box.top));
  const width = Math.max(...boxes.map((box) => box.left + box.width)) - left;
  const height = Math.max(...boxes.map((box) => box.top + box.height)) - top;
  return { left, top, width, height };
}

function place({ left, top, width, height }: Box): string {
  return `${width}x${height},${left},${top}`;
}
