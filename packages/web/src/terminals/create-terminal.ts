import { Unicode11Addon } from '@xterm/addon-unicode11';
import { Terminal } from '@xterm/xterm';
import { keepStylesWithinPolicy } from '../page/policy-styles.ts';
import { type Scheme, terminalThemes } from '../page/terminal-themes.ts';
import { keepQuiet } from './quiet-terminal.ts';

export interface CreateTerminalOptions {
  readonly fontFamily: string;
  readonly scheme: Scheme;
  /** A key that is the page's and not the program's; answers whether it was taken. */
  readonly onKey: (event: KeyboardEvent) => boolean;
  /** Somebody clicked a link in the output. */
  readonly onLink: (address: string) => void;
}

/** So many lines a terminal holds. */
export const scrollback = 200_000;

let styled = false;

/** A terminal that is fit for the page: within its policy, in its colours, and without a voice of its own. */
export function createTerminal({ fontFamily, scheme, onKey, onLink }: CreateTerminalOptions): Terminal {
  if (!styled) keepStylesWithinPolicy();
  styled = true;
  const terminal = new Terminal({
    fontFamily,
    theme: terminalThemes[scheme],
    minimumContrastRatio: 4.5,
    scrollback,
    cursorBlink: false,
    macOptionIsMeta: true,
    // For the widths of characters.
    allowProposedApi: true,
    // A link may say one thing and lead elsewhere: it is shown, and opened by nobody but the user.
    linkHandler: { activate: (_, address) => onLink(address) },
  });
  // As the hub's own terminal counts: by itself this one takes an emoji for as wide as a letter.
  terminal.loadAddon(new Unicode11Addon());
  terminal.unicode.activeVersion = '11';
  terminal.attachCustomKeyEventHandler((event) => event.type !== 'keydown' || !onKey(event));
  keepQuiet(terminal);
  return terminal;
}
