import { closeSync, constants, openSync, writeSync } from 'node:fs';
import type { Notice } from './notice.ts';

type Dialect = (notice: Notice) => string;

/** One order each: a terminal that knows several would show the same notice twice. */
const osc9: Dialect = ({ title, body }) => `\x1b]9;${title}: ${body}\x07`;
const osc99: Dialect = ({ title, body, paneId }) =>
  `\x1b]99;i=${paneId}:d=0;${title}\x1b\\\x1b]99;i=${paneId}:p=body;${body}\x1b\\`;
const osc777: Dialect = ({ title, body }) =>
  `\x1b]777;notify;${title.replaceAll(';', ',')};${body.replaceAll(';', ',')}\x07`;

/** Which terminal understands what, by the name it has in TERM, in TERM_PROGRAM or in its answer to tmux. */
const dialects: readonly (readonly [terminal: RegExp, dialect: Dialect])[] = [
  [/kitty/i, osc99],
  [/iterm|wezterm|ghostty|windows|rio/i, osc9],
  [/./, osc777],
];

/** How a terminal is told. */
export function terminalNotice(terminal: string, notice: Notice): string {
  const dialect = dialects.find(([pattern]) => pattern.test(terminal))?.[1] ?? osc777;
  return dialect(notice);
}

/** Writes to the terminal of somebody else's program; one that does not take it at once is not told. */
export function tellTerminal(device: string, text: string): void {
  const fd = openSync(device, constants.O_WRONLY | constants.O_NONBLOCK | constants.O_NOCTTY);
  try {
    writeSync(fd, text);
  } finally {
    closeSync(fd);
  }
}
