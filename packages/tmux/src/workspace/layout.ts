/** Where a pane lies in its window, in cells. */
export interface Box {
  readonly left: number;
  readonly top: number;
  readonly width: number;
  readonly height: number;
}

/** What the boxes of panes in a named layout, in their order, have in common. */
const layouts: Readonly<Record<string, (boxes: readonly Box[]) => boolean>> = {
  'even-horizontal': (boxes) => inRow(boxes) && isEven(boxes, 'width'),
  'even-vertical': (boxes) => inColumn(boxes) && isEven(boxes, 'height'),
  'main-horizontal': ([main, ...rest]) =>
    inRow(rest) && rest.every((box) => main !== undefined && box.top > main.top),
  'main-vertical': ([main, ...rest]) =>
    inColumn(rest) && rest.every((box) => main !== undefined && box.left > main.left),
  tiled: (boxes) => {
    const [rows, columns] = grid(boxes.length);
    const tops = [...new Set(boxes.map((box) => box.top))];
    const inFirst = boxes.filter((box) => box.top === tops[0]).length;
    return tops.length === rows && (rows === 1 || inFirst === columns);
  },
  'main-horizontal-mirrored': ([main, ...rest]) =>
    inRow(rest) && rest.every((box) => main !== undefined && box.top < main.top),
  'main-vertical-mirrored': ([main, ...rest]) =>
    inColumn(rest) && rest.every((box) => main !== undefined && box.left < main.left),
};

export const layoutNames: readonly string[] = Object.keys(layouts);

/** The layout meant by a name, by the beginning of one as tmux takes it, or by a layout tmux wrote; else undefined. */
export function findLayout(written: string): string | undefined {
  if (/^[0-9a-f]{4},\d+x\d+,[^\p{Cc}]+$/u.test(written) || layoutNames.includes(written)) return written;
  const begun = written === '' ? [] : layoutNames.filter((name) => name.startsWith(written));
  // The mirrored ones begin like those they mirror, which tmux prefers.
  const plain = begun.filter((name) => !name.endsWith('-mirrored'));
  return plain.length === 1 ? plain[0] : begun.length === 1 ? begun[0] : undefined;
}

/** Whether panes lie as a layout says: by its rule when it is a name, by the nesting of its splits when tmux wrote it. */
export function followsLayout(layout: string, boxes: readonly Box[], found: string): boolean {
  const rule = layoutNames.includes(layout) ? layouts[layout] : undefined;
  if (rule) return boxes.length < 2 || rule(boxes);
  return (
    nesting(layout) === nesting(found) && (sizeOf(layout) !== sizeOf(found) || cells(layout) === cells(found))
  );
}

function inRow(boxes: readonly Box[]): boolean {
  return boxes.every((box, i) => box.top === boxes[0]?.top && box.left >= (boxes[i - 1]?.left ?? 0));
}

function inColumn(boxes: readonly Box[]): boolean {
  return boxes.every((box, i) => box.left === boxes[0]?.left && box.top >= (boxes[i - 1]?.top ?? 0));
}

/** tmux gives what is left over to the last; borders with text take a line from the panes they are drawn in. */
function isEven(boxes: readonly Box[], side: 'width' | 'height'): boolean {
  const sizes = boxes.slice(0, -1).map((box) => box[side]);
  return Math.max(...sizes) - Math.min(...sizes) <= 1;
}

/** Rows are added first, then columns, until there is room for all; then rows nobody needs go. */
function grid(count: number): [rows: number, columns: number] {
  let [rows, columns] = [1, 1];
  while (rows * columns < count) {
    rows++;
    if (rows * columns < count) columns++;
  }
  return [Math.ceil(count / columns), columns];
}

/** `a0e0,80x24,0,0{40x24,0,0,1,39x24,41,0,2}` without its checksum and the numbers of its panes. */
function cells(layout: string): string {
  return layout.replace(/^[0-9a-f]{4},/, '').replaceAll(/(\d+x\d+,\d+,\d+),\d+/g, '$1');
}

function nesting(layout: string): string {
  return cells(layout).replaceAll(/\d+x\d+,\d+,\d+/g, 'o');
}

function sizeOf(layout: string): string | undefined {
  return /,(\d+x\d+),/.exec(layout)?.[1];
}
