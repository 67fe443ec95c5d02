import { TmuxError } from '../errors.ts';

/**
 * Writes argv as one line of tmux's own command language, exactly: what tmux parses is what was given.
 *
 * Single quotes keep every byte but CR and LF; a token with those is written as octal escapes throughout.
 */
export function quoteLine(argv: readonly string[]): string {
  return argv.map(quoteToken).join(' ');
}

const lines = new WeakMap<readonly string[], string>();

/** The line of a command, checked; written once for words that cannot change any more. */
export function commandLine(argv: readonly string[]): string {
  const known = lines.get(argv);
  if (known !== undefined) return known;
  assertCommand(argv);
  const line = quoteLine(argv);
  if (Object.isFrozen(argv)) lines.set(argv, line);
  return line;
}

export function quoteToken(token: string): string {
  if (/^[A-Za-z0-9_./:,@-]+$/.test(token)) return token;
  if (/[\r\n]/.test(token)) return octal(token);
  return `'${token.replaceAll("'", "'\\''")}'`;
}

function octal(token: string): string {
  let out = '';
  for (const byte of Buffer.from(token)) out += `\\${byte.toString(8).padStart(3, '0')}`;
  return out;
}

/** tmux takes an argument that ends in `;` for a separator; only that last one needs an escape. */
export function escapeArgument(argument: string): string {
  return argument.endsWith(';') ? `${argument.slice(0, -1)}\\;` : argument;
}

/**
 * Writes a text so that tmux, where it expands formats, gives back the text itself: a window called `#(reboot)` must
 * not run anything. Only before `[` tmux leaves every `#` as it is.
 */
export function literalFormat(text: string): string {
  return text.replace(/#+(?!\[|#)/g, (run) => run + run);
}

/**
 * Refuses what tmux would take for something other than a command: nothing at all, a comment, an assignment.
 * Such lines get no reply, and an empty one detaches the client.
 */
export function assertCommand(argv: readonly string[]): void {
  const name = argv[0] ?? '';
  if (!/^[a-z][a-z-]*$/.test(name)) {
    throw new TmuxError('invalid_parameters', `${JSON.stringify(name)} is not the name of a tmux command.`, {
      argv,
    });
  }
  const nul = argv.find((argument) => argument.includes('\0'));
  if (nul !== undefined) {
    throw new TmuxError(
      'invalid_parameters',
      `A tmux argument cannot hold a NUL byte: ${JSON.stringify(nul)}.`,
      { argv },
    );
  }
}
