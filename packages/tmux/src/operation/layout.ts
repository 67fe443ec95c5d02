import { type Column, textColumn } from './rows.ts';

/** A cell of a layout as tmux 3.8 writes it: a pane, or cells side by side (h) or on top of each other (v). */
interface Cell {
  readonly t: string;
  readonly w: number;
  readonly h: number;
  readonly x: number;
  readonly y: number;
  readonly I?: string;
  readonly c?: readonly Cell[];
}

/** A layout in the form every release reads. tmux 3.8 writes JSON to a process, and the old form to a control client. */
export const layoutColumn = (format: string): Column<string> => ({
  ...textColumn(format),
  read: classicLayout,
});

function classicLayout(text: string): string {
  if (!text.startsWith('{')) return text;
  const { L: root } = JSON.parse(text) as { readonly L: Cell };
  const cell = written(root);
  return `${layoutChecksum(cell)},${cell}`;
}

function written({ t, w, h, x, y, I = '', c = [] }: Cell): string {
  const place = `${w}x${h},${x},${y}`;
  if (t === 'p') return `${place},${I.slice(1)}`;
  const inner = c.map(written).join(',');
  return t === 'h' ? `${place}{${inner}}` : `${place}[${inner}]`;
}

/** What stands before a layout, so that tmux can tell a damaged one. */
export function layoutChecksum(cell: string): string {
  let sum = 0;
  for (const byte of Buffer.from(cell)) sum = (((sum >> 1) | ((sum & 1) << 15)) + byte) & 0xffff;
  return sum.toString(16).padStart(4, '0');
}
