import { useState } from 'react';

export type TileCount = 1 | 2 | 4;
export const tileCounts: readonly TileCount[] = [1, 2, 4];

/** Which panes are open, where, and in which tile the next one opens. */
interface Layout {
  readonly count: TileCount;
  readonly tiles: readonly (string | undefined)[];
  readonly active: number;
}

export interface LayoutControl extends Layout {
  setCount(count: TileCount): void;
  /** Opens a pane in the active tile, or goes to where it is open. */
  open(paneId: string): void;
  activate(tile: number): void;
  close(tile: number): void;
}

const place = 'poly-layout';

/** Kept as long as the tab. */
export function useLayout(): LayoutControl {
  const [layout, setLayout] = useState(remembered);
  const change = (to: Partial<Layout>): void =>
    setLayout((before) => {
      const after = { ...before, ...to };
      sessionStorage.setItem(place, JSON.stringify(after));
      return after;
    });
  const { count, tiles, active } = layout;
  return {
    ...layout,
    setCount(wanted) {
      // The panes that were open stay, the active one first of all.
      const kept = [tiles[active], ...tiles.filter((_, tile) => tile !== active)].filter(
        (id) => id !== undefined,
      );
      change({
        count: wanted,
        tiles: wanted > count ? tiles : kept.slice(0, wanted),
        active: wanted > count ? active : 0,
      });
    },
    open(paneId) {
      const there = tiles.slice(0, count).indexOf(paneId);
      if (there >= 0) return change({ active: there });
      const free = Array.from({ length: count }, (_, tile) => tile).find((tile) => tiles[tile] === undefined);
      const tile = tiles[active] === undefined ? active : (free ?? active);
      change({
        tiles: Array.from({ length: count }, (_, at) => (at === tile ? paneId : tiles[at])),
        active: tile,
      });
    },
    activate: (tile) => {
      if (tile !== active) change({ active: tile });
    },
    close: (tile) => change({ tiles: tiles.map((paneId, at) => (at === tile ? undefined : paneId)) }),
  };
}

/** Whether this tab had panes open before. */
export const hasTiles = (): boolean => remembered().tiles.some((id) => id !== undefined);

function remembered(): Layout {
  const empty: Layout = { count: 1, tiles: [], active: 0 };
  try {
    const { count, tiles, active } = JSON.parse(sessionStorage.getItem(place) ?? '') as Layout;
    // What JSON cannot say, it says as null.
    return tileCounts.includes(count) ? { count, active, tiles: tiles.map((id) => id ?? undefined) } : empty;
  } catch {
    return empty; // The first time.
  }
}
