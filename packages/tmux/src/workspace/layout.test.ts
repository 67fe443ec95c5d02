import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Box, findLayout, followsLayout } from './layout.ts';
import { layoutText } from './layout-text.ts';

/** Splits a box at random, as tmux does: one cell goes to the border. */
const cells = (box: Box, depth: number): fc.Arbitrary<Box[]> => {
  const { left, top, width, height } = box;
  const whole = fc.constant(null).map(() => [box]);
  if (depth === 0 || width < 7 || height < 7) return whole;
  const split = fc
    .tuple(fc.boolean(), fc.integer({ min: 3, max: Math.min(width, height) - 4 }))
    .chain(([sideways, at]) => {
      const parts: [Box, Box] = sideways
        ? [
            { left, top, height, width: at },
            { left: left + at + 1, top, height, width: width - at - 1 },
          ]
        : [
            { left, top, width, height: at },
            { left, top: top + at + 1, width, height: height - at - 1 },
          ];
      return fc.tuple(cells(parts[0], depth - 1), cells(parts[1], depth - 1)).map((both) => both.flat());
    });
  return fc.oneof(whole, split);
};

describe('layoutText', () => {
  it('writes what tmux writes, checksum included', () => {
    // Written by tmux 3.3a for four panes in 80x24.
    const boxes = [
      { left: 0, top: 0, width: 40, height: 24 },
      { left: 41, top: 0, width: 39, height: 12 },
      { left: 41, top: 13, width: 19, height: 11 },
      { left: 61, top: 13, width: 19, height: 11 },
    ];
    expect(layoutText(boxes)).toBe(
      '1558,80x24,0,0{40x24,0,0,0,39x24,41,0[39x12,41,0,1,39x11,41,13{19x11,41,13,2,19x11,61,13,3}]}',
    );
  });

  it('holds every pane once, wherever it lies', () => {
    fc.assert(
      fc.property(cells({ left: 0, top: 0, width: 120, height: 50 }, 4), (boxes) => {
        const text = layoutText(boxes) ?? '';
        for (const [id, { left, top, width, height }] of boxes.entries())
          expect(text).toContain(`${width}x${height},${left},${top},${id}`);
        expect(followsLayout(text, boxes, text)).toBe(true);
      }),
    );
  });
});

describe('findLayout', () => {
  it('knows names, their beginnings as tmux does, and layouts tmux wrote', () => {
    expect(['tiled', 'ti', 'main-v', 'even-h', 'main-vertical-m'].map(findLayout)).toEqual([
      'tiled', 'tiled', 'main-vertical', 'even-horizontal', 'main-vertical-mirrored',
    ]); // biome-ignore format: a list
    expect(['', 'main', 'sideways', 'b25d,what'].map(findLayout)).toEqual([
      undefined,
      undefined,
      undefined,
      undefined,
    ]);
    expect(findLayout('b25d,80x24,0,0,0')).toBe('b25d,80x24,0,0,0');
  });
});
