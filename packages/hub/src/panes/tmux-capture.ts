import type { Shown } from '../host/client.ts';
import { plainLine } from '../host/plain-view.ts';

/** What a terminal is told where tmux says otherwise than usual, and how it is told the usual. */
const modes = [
  { flag: 'cursor_flag', usual: 1, on: '\x1b[?25h', off: '\x1b[?25l' },
  { flag: 'wrap_flag', usual: 1, on: '\x1b[?7h', off: '\x1b[?7l' },
  { flag: 'insert_flag', usual: 0, on: '\x1b[4h', off: '\x1b[4l' },
  { flag: 'keypad_cursor_flag', usual: 0, on: '\x1b[?1h', off: '\x1b[?1l' },
  { flag: 'keypad_flag', usual: 0, on: '\x1b=', off: '\x1b>' },
  { flag: 'mouse_standard_flag', usual: 0, on: '\x1b[?1000h', off: '\x1b[?1000l' },
  { flag: 'mouse_button_flag', usual: 0, on: '\x1b[?1002h', off: '\x1b[?1002l' },
  { flag: 'mouse_all_flag', usual: 0, on: '\x1b[?1003h', off: '\x1b[?1003l' },
  { flag: 'mouse_sgr_flag', usual: 0, on: '\x1b[?1006h', off: '\x1b[?1006l' },
] as const;

const places = [
  ...['alternate_on', 'history_size', 'pane_width', 'pane_height', 'cursor_x', 'cursor_y'],
  ...['alternate_saved_x', 'alternate_saved_y', 'scroll_region_upper', 'scroll_region_lower', 'origin_flag'],
];
const stateFormat = [...places, ...modes.map(({ flag }) => flag)].map((name) => `#{${name}}`).join(' ');

/** Takes a terminal, whatever it was told before, off a full screen and to the usual modes, its cursor where it was. */
const begin = `\x1b7\x1b[?1049l\x1b7\x1b[?6l\x1b[r\x1b8${modes.map(({ usual, on, off }) => (usual ? on : off)).join('')}`;

/** Asks tmux for all it shows of a pane; on one line, so that nothing happens in between. */
export function captureCommands(tmuxPane: string): readonly (readonly string[])[] {
  const capture = ['capture-pane', '-p', '-t', tmuxPane];
  return [
    ['display-message', '-p', '-t', tmuxPane, stateFormat],
    // The beginning of a sequence whose end comes through the pipe; everything; what is on the screen.
    [...capture, '-P'],
    [...capture, '-e', '-J', '-S', '-'],
    [...capture, '-e'],
    // Under a full-screen program: what has left the screen; its last line, and what goes on in it; the screen that
    // comes back, in lines and in rows.
    [...capture, '-e', '-J', '-S', '-', '-E', '-1'],
    [...capture, '-J', '-S', '-1', '-E', '0'],
    [...capture, '-a', '-q', '-e', '-J', '-S', '-'],
    [...capture, '-a', '-q', '-S', '-'],
  ];
}

/** What tmux shows, from its answers to `captureCommands`. */
export function shownOf(answers: readonly string[]): Shown {
  const [state = '', begun = '', whole = '', screen = '', ...under] = answers.map(withoutEnd);
  const numbers = state.trim().split(' ').map(Number);
  const [alternate, , cols = 0, rows = 0, x = 0, y = 0, , , top = 0, bottom = rows - 1, origin] = numbers;
  const told = modes.flatMap(({ usual, on, off }, index) => {
    const now = numbers[places.length + index] ?? usual;
    return now === usual ? [] : [now ? on : off];
  });
  const last = `${told.join('')}${begun}`;
  // Setting a part of the screen that scrolls moves the cursor, and so does counting from it.
  const isPart = top > 0 || bottom < rows - 1;
  const part = isPart ? `\x1b[${top + 1};${bottom + 1}r` : '';
  const at = `${part}${origin ? '\x1b[?6h' : ''}\x1b[${y + 1 - (origin ? top : 0)};${x + 1}H`;
  if (alternate) {
    const { lines, back } = underneath(numbers, under);
    const drawn = screen.replaceAll('\n', '\r\n');
    return {
      begin,
      lines: newest(lines),
      end: `${back}\x1b[?1049h\x1b[H${drawn}\x1b[0m${at}${last}`,
    };
  }
  const lines = whole.split('\n');
  const back = backTo({ lines, cols, x, below: rows - 1 - y });
  return { begin, lines: newest(lines), end: `${isPart || origin ? at : back}${last}` };
}

/** The lines that come back when a full-screen program ends, and how the cursor gets to where it will be then. */
function underneath(
  [, scrolled, cols = 0, , , , x = 0, y = 0]: readonly number[],
  [history = '', seam = '', saved = '', savedRows = '']: readonly string[],
): { readonly lines: readonly string[]; readonly back: string } {
  const [first = '', ...others] = saved.split('\n');
  // Of a history that is empty tmux shows the first line of the screen.
  const lines = scrolled ? history.split('\n') : [];
  // It is one line where tmux has only one to show of the last that left and the first that did not.
  const halfLeft = scrolled && !seam.includes('\n') ? (lines.pop() ?? '') : '';
  lines.push(`${halfLeft}\x1b[0m${first}`, ...others);
  const below = savedRows.split('\n').length - 1 - y;
  // A program that came without saving the cursor leaves it where it stands.
  return { lines, back: below < 0 ? '' : backTo({ lines, cols, x, below }) };
}

/** From the end of the last line to a column so many rows higher; lines below that with nothing in them are taken away. */
function backTo(place: { lines: string[]; cols: number; x: number; below: number }): string {
  const { lines, cols, x } = place;
  let { below } = place;
  while (below > 0 && lines.length > 1 && plainLine(lines.at(-1) ?? '') === '') {
    lines.pop();
    below--;
  }
  const { length } = plainLine(lines.at(-1) ?? '');
  const up = below > 0 ? `\x1b[${below}A` : '';
  const isThere = below === 0 && (length === x || (x > 0 && length % cols === x));
  return `${up}${isThere ? '' : `\x1b[${x + 1}G`}`;
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
