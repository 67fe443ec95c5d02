// What the thread of the screens runs: a terminal for each pane that is looked at, drawing what the host sends it.
import { parentPort } from 'node:worker_threads';
import { Unicode11Addon } from '@xterm/addon-unicode11';
import xterm from '@xterm/headless';

/** What a terminal shows now. */
export interface TerminalView {
  readonly cols: number;
  readonly rows: number;
  /** The text of each row, without the spaces at its end. */
  readonly lines: readonly string[];
  readonly cursor: { readonly x: number; readonly y: number; readonly visible: boolean };
  readonly title: string;
  /** Whether a full-screen program has the alternate screen. */
  readonly alternate: boolean;
  readonly bracketedPaste: boolean;
  readonly applicationCursor: boolean;
}

/** What is left of a terminal that passes something over. */
export interface TerminalReset {
  readonly alternate: boolean;
  /** What the program has asked in what is passed over. */
  readonly asked: string;
}

/** What the host asks of a terminal, by its number; what has a `turn` is answered with the same. */
export type TerminalRequest = { readonly terminal: number } & (
  | { readonly open: { readonly cols: number; readonly rows: number } }
  | { readonly write: Uint8Array<ArrayBuffer>; readonly turn: number }
  | { readonly look: true; readonly turn: number }
  | { readonly resize: { readonly cols: number; readonly rows: number } }
  | { readonly reset: TerminalReset }
  | { readonly close: true }
);

export type TerminalNews =
  | { readonly turn: number; readonly view?: TerminalView }
  /** What the terminal answers to what the program has asked it. */
  | { readonly terminal: number; readonly answer: string };

const scrollback = 200;
/** What programs are told of foreground, background and cursor: as on the page in the dark, whoever looks on. */
const colours = { 10: 'd3d3/d9d9/e4e4', 11: '0d0d/1010/1717', 12: '7a7a/a2a2/f7f7' };
const terminals = new Map<number, DrawnTerminal>();
const say = (news: TerminalNews): void => parentPort?.postMessage(news);

class DrawnTerminal {
  readonly #terminal: InstanceType<typeof xterm.Terminal>;
  #title = '';
  #cursorVisible = true;

  constructor(number: number, size: { readonly cols: number; readonly rows: number }) {
    const terminal = new xterm.Terminal({ ...size, scrollback, allowProposedApi: true });
    this.#terminal = terminal;
    // By itself it knows Unicode 6 only, in which an emoji is as wide as a letter.
    terminal.loadAddon(new Unicode11Addon());
    terminal.unicode.activeVersion = '11';
    terminal.onTitleChange((title) => {
      this.#title = title;
    });
    terminal.onData((answer) => say({ terminal: number, answer }));
    const onMode =
      (visible: boolean) =>
      (params: readonly (number | number[])[]): boolean => {
        if (params.includes(25)) this.#cursorVisible = visible;
        return false;
      };
    terminal.parser.registerCsiHandler({ prefix: '?', final: 'h' }, onMode(true));
    terminal.parser.registerCsiHandler({ prefix: '?', final: 'l' }, onMode(false));
    // xterm.js leaves this to what draws, of which there is nothing here.
    for (const [which, colour] of Object.entries(colours))
      terminal.parser.registerOscHandler(Number(which), (asked) => {
        if (asked === '?') say({ terminal: number, answer: `\x1b]${which};rgb:${colour}\x1b\\` });
        return false;
      });
  }

  write(bytes: Uint8Array, done: () => void): void {
    this.#terminal.write(bytes, done);
  }

  resize({ cols, rows }: { readonly cols: number; readonly rows: number }): void {
    this.#terminal.resize(cols, rows);
  }

  reset({ alternate, asked }: TerminalReset): void {
    // It happens in its turn: before whatever is written after it.
    this.#terminal.write(asked, () => this.#terminal.reset());
    if (alternate) this.#terminal.write('\x1b[?1049h');
  }

  look(): TerminalView {
    const { cols, rows, buffer, modes } = this.#terminal;
    const { active } = buffer;
    return {
      cols,
      rows,
      lines: Array.from({ length: rows }, (_, row) =>
        withoutBlanks(active.getLine(active.baseY + row)?.translateToString(true) ?? ''),
      ),
      cursor: { x: active.cursorX, y: active.cursorY, visible: this.#cursorVisible },
      title: this.#title,
      alternate: active.type === 'alternate',
      bracketedPaste: modes.bracketedPasteMode,
      applicationCursor: modes.applicationCursorKeysMode,
    };
  }

  close(): void {
    this.#terminal.dispose();
  }
}

/** Blanks at the end of a line may have been drawn or not: as in tmux, nobody can see which. */
function withoutBlanks(line: string): string {
  let end = line.length;
  while (line[end - 1] === ' ') end--;
  return line.slice(0, end);
}

parentPort?.on('message', (request: TerminalRequest) => {
  const { terminal: number } = request;
  if ('open' in request) return void terminals.set(number, new DrawnTerminal(number, request.open));
  const terminal = terminals.get(number);
  if (!terminal) return;
  if ('write' in request) terminal.write(request.write, () => say({ turn: request.turn }));
  else if ('look' in request) say({ turn: request.turn, view: terminal.look() });
  else if ('resize' in request) terminal.resize(request.resize);
  else if ('reset' in request) terminal.reset(request.reset);
  else {
    terminal.close();
    terminals.delete(number);
  }
});
