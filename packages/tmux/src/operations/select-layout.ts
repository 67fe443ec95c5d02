import * as z from 'zod';
import { type Builder, defineOperation } from '../operation/operation.ts';
import { type Ack, ack } from '../operation/outcome.ts';
import { choice, custom, target } from '../operation/param.ts';
import { atMostOne } from '../operation/refusal.ts';
import type { Target } from '../operation/target.ts';
import { atLeast, type TmuxVersion } from '../operation/version.ts';

export interface SelectLayout {
  readonly target: Target;
  /** `tiled`, `even-horizontal` and the like, or a layout as `#{window_layout}` writes it. */
  readonly layout?: string;
  readonly change?: 'next' | 'previous' | 'undo' | 'spread';
}

const mirrored = ['main-horizontal-mirrored', 'main-vertical-mirrored'];
const named = ['even-horizontal', 'even-vertical', 'main-horizontal', 'main-vertical', 'tiled', ...mirrored];

/** tmux 3.8 writes layouts as JSON, and takes them in the older form too. */
const written = /^([0-9a-f]{4},\d+x\d+,|\{)[^\p{Cc}]+$/u;

// A layout of another form, or of a name it does not know, crashes the server of tmux 3.3a.
const layoutSchema = z.string().refine((layout) => named.includes(layout) || written.test(layout), {
  message: `a layout is one of ${named.join(', ')}, or what #{window_layout} says`,
});

function neededBy(layout: string): string {
  return layout.startsWith('{') ? '3.8' : mirrored.includes(layout) ? '3.5' : '3.2';
}

function refuse(params: SelectLayout, version: TmuxVersion | null): string | undefined {
  const needed = neededBy(params.layout ?? '');
  if (version && !atLeast(version, needed))
    return `this layout needs tmux ${needed}; this server is ${version.text}`;
  return atMostOne(params, 'layout', 'change');
}

export const selectLayout: Builder<SelectLayout, Ack> = defineOperation<SelectLayout, Ack>({
  kind: 'select_layout',
  scope: 'window',
  effect: 'write',
  summary:
    'Arranges the panes of a window; with neither layout nor change, as they were last arranged by name.',
  params: {
    target: target('the window, or the pane to spread'),
    change: choice(
      { next: ['-n'], previous: ['-p'], undo: ['-o'], spread: ['-E'] },
      'the next or previous named layout, the layout before this one, or equal sizes around the pane',
    ),
    layout: custom(layoutSchema, '', 'the layout, by name or as #{window_layout} says it', (layout) => [
      layout,
    ]),
  },
  refuse,
  result: ack,
  example: { target: { session: 'demo', window: 0 }, layout: 'even-horizontal' },
});
