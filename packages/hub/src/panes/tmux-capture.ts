import type { Shown } from '../host/client.ts';
import { plainLine } from '../host/plain-view.ts';

const cursorFormat = '#{alternate_on} #{history_size} #{pane_width} #{pane_height} #{cursor_x} #{cursor_y}';

/** Asks tmux for all it shows of a pane; on one line, so that nothing happens in between. */
export function captureCommands(tmuxPane: string): readonly (readonly string[])[] {
  const capture = ['capture-pane', '-p', '-t', tmuxPane];
  return [
    ['display-message', '-p', '-t', tmuxPane, cursorFormat],
    // The beginning of a sequence whose end comes through the pipe; everything; what has left the screen; what is on it.
    [...capture, '-P'],
    [...capture, '-e', '-J', '-S', '-'],
    [...capture, '-e', '-J', '-S', '-', '-E', '-1'],
    [...capture, '-e'],
  ];
}

/** What tmux shows, from its answers to `captureCommands`. */
export function shownOf(answers: readonly string[]): Shown {
  const [cursor = '', begun = '', whole = '', history = '', screen = ''] = answers;
  const unfinished = withoutEnd(begun);
  const [alternate, scrolled, cols = 0, rows = 0, x = 0, y = 0] = cursor.trim().split(' ').map(Number);
  if (alternate) {
    const drawn = withoutEnd(screen).replaceAll('\n', '\r\n');
    const end = `\x1b[?1049h\x1b[H${drawn}\x1b[0m\x1b[${y + 1};${x + 1}H${unfinished}`;
    // Of a history that is empty tmux shows the first line of the screen.
    return { lines: newest([...(scrolled ? withoutEnd(history).split('\n') : []), '']), end };
  }
  const lines = withoutEnd(whole).split('\n');
  let below = rows - 1 - y;
  while (below > 0 && lines.length > 1 && lines.at(-1) === '') {
    lines.pop();
    below--;
  }
  const { length } = plainLine(lines.at(-1) ?? '');
  const up = below > 0 ? `\x1b[${below}A` : '';
  const isThere = below === 0 && (length === x || (x > 0 && length % cols === x));
  return { lines: newest(lines), end: `${up}${isThere ? '' : `\x1b[${x + 1}G`}${unfinished}` };
}

/** No more than one message takes. */
function newest(lines: readonly string[]): readonly string[] {
  let size = 0;
  const first = lines.findLastIndex((line) => {
    size += line.length + 1;
    return size > mostShown;
  });
  return lines.slice(first + 1);
}

const mostShown = 4 * 1024 * 1024;

const withoutEnd = (text: string): string => text.replace(/\n$/, '');
