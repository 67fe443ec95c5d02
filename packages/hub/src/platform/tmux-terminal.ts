import type { PaneScreen } from '@polyphony/protocol';

// What tmux is asked for of a pane, and told to type into it, on whichever server that is.

type Commands = readonly (readonly string[])[];

const screenFormat =
  '#{pane_width} #{pane_height} #{cursor_x} #{cursor_y} #{cursor_flag} #{alternate_on} #{keypad_cursor_flag} #{pane_title}';

/** Asks tmux for what a pane shows; on one line, so that nothing happens in between. */
export function screenCommands(target: string): Commands {
  return [
    ['display-message', '-p', '-t', target, screenFormat],
    ['capture-pane', '-p', '-t', target],
  ];
}

/** What a pane shows, from tmux's answers to `screenCommands`. */
export function screenOf([state = '', text = '']: readonly string[]): PaneScreen & {
  /** Arrows, Home and End are to be sent in the form of an application. */
  readonly applicationCursor: boolean;
} {
  const [cols, rows, x, y, visible, alternate, application, ...title] = state.trimEnd().split(' ');
  return {
    cols: Number(cols),
    rows: Number(rows),
    lines: text.replace(/\n$/, '').split('\n'),
    cursor: { x: Number(x), y: Number(y), visible: visible === '1' },
    title: title.join(' '),
    alternate: alternate === '1',
    applicationCursor: application === '1',
  };
}

/** ASCII with control characters goes byte by byte, everything else as text. */
export function typeCommands(target: string, bytes: Buffer): Commands {
  const parts = bytes.toString('utf8').match(/[\0-\x7f]{1,500}|[^\0-\x7f]{1,1000}/gu) ?? [];
  return parts.map((part) =>
    /\p{Cc}/u.test(part)
      ? ['send-keys', '-t', target, '-H', ...(Buffer.from(part).toString('hex').match(/../g) ?? [])]
      : ['send-keys', '-t', target, '-l', '--', part],
  );
}

/** tmux takes longer over a line the more commands it has, so that a long text goes in several. */
export const mostTypeCommands = 50;
