import { escapeArgument, quoteLine } from '../operation/quote.ts';
import type { Answer, Marked } from './chain.ts';

/** What a tmux client is given: the words of its command line, and what it finds on its standard input. */
export interface ClientLine<T> {
  readonly words: readonly string[];
  readonly input?: Buffer;
  read(answer: Answer): T;
}

/** A client hands its words to the server in one message of 16 KiB, header included. */
const maxBytes = 16_000;

/**
 * Commands as one `;` line. What is too long for the words of a client goes to its standard input, which tmux reads as
 * a file of commands of any length. That starts no server, so new-session gets one started before.
 */
export function clientLine<T>({ argvs, read }: Marked<T>): ClientLine<T> {
  const words = argvs.flatMap((argv, i) => [...(i === 0 ? [] : [';']), ...argv.map(escapeArgument)]);
  if (words.reduce((sum, word) => sum + Buffer.byteLength(word) + 1, 0) <= maxBytes) return { words, read };
  const starts = argvs.some(([name]) => name === 'new-session');
  return {
    words: [...(starts ? ['start-server', ';'] : []), 'source-file', '-'],
    input: Buffer.from(`${argvs.map(quoteLine).join(' ; ')}\n`),
    read: (answer) => read(unplaced(answer)),
  };
}

/** tmux prints a mistake in a file, and where it is; the same mistake in words it tells on standard error. */
function unplaced(answer: Answer): Answer {
  const mistake = /^-:1: (.*)/s.exec(answer.stdout)?.[1];
  return mistake === undefined ? answer : { ...answer, stdout: '', stderr: mistake + answer.stderr };
}
