import { layoutChecksum } from '../../operation/layout.ts';
import { type Cell, isLeaf } from './layout.ts';

/** A layout as tmux writes it: a checksum, then sizes and places, `{}` around rows and `[]` around columns. */
export function writeLayout(root: Cell): string {
  const text = write(root, 0, 0);
  return `${layoutChecksum(text)},${text}`;
}

function write(cell: Cell, left: number, top: number): string {
  const head = `${cell.width}x${cell.height},${left},${top}`;
  if (isLeaf(cell)) return `${head},${cell.pane}`;
  let [x, y] = [left, top];
  const inner = cell.cells.map((one) => {
    const text = write(one, x, y);
    if (cell.axis === 'row') x += one.width + 1;
    else y += one.height + 1;
    return text;
  });
  return cell.axis === 'row' ? `${head}{${inner.join(',')}}` : `${head}[${inner.join(',')}]`;
}

/** Reads a written layout, leaves numbered in order from 0; null when it is none. */
export function readLayout(text: string): Cell | null {
  const body = text.slice(5);
  if (!/^[0-9a-f]{4},/.test(text) || layoutChecksum(body) !== text.slice(0, 4)) return null;
  const reader = { at: 0, leaves: 0 };
  const cell = readCell(body, reader);
  return reader.at === body.length ? cell : null;
}

function readCell(text: string, reader: { at: number; leaves: number }): Cell | null {
  const head = /^(\d+)x(\d+),\d+,\d+/.exec(text.slice(reader.at));
  if (!head) return null;
  reader.at += head[0].length;
  const size = { width: Number(head[1]), height: Number(head[2]) };
  const opening = text[reader.at] ?? '';
  const closing = { '{': '}', '[': ']' }[opening];
  if (!closing) {
    // The number of the pane, which belongs to the server that wrote it; a size after the comma is the next cell.
    const pane = /^,\d+(?!\d*x)/.exec(text.slice(reader.at));
    reader.at += pane?.[0].length ?? 0;
    return { pane: reader.leaves++, ...size };
  }
  const cells: Cell[] = [];
  do {
    reader.at += 1;
    const cell = readCell(text, reader);
    if (!cell) return null;
    cells.push(cell);
  } while (text[reader.at] === ',');
  if (text[reader.at] !== closing) return null;
  reader.at += 1;
  return { axis: opening === '{' ? 'row' : 'column', cells, ...size };
}
