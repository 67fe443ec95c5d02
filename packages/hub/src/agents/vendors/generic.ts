import type { Vendor } from './vendor.ts';

/** A program nobody described: nothing is mapped, and its screen is never understood. */
export const generic: Vendor = {
  name: 'generic',
  programs: [],
  packages: [],
  homes: [],
  launch: {},
  typing: { bracketedPaste: false, pauseMs: 200 },
};
