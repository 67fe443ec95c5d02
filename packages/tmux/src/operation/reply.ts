/** What an engine brings back for one command: the same value whichever engine ran it. */
export interface Reply {
  /** `skipped`: an earlier command of the chain failed. `unknown`: the connection ended before the answer. */
  readonly status: 'complete' | 'failed' | 'skipped' | 'unknown';
  readonly stdout: string;
  readonly stderr: string;
}

export const skippedReply: Reply = Object.freeze({ status: 'skipped', stdout: '', stderr: '' });

/** The lines of a text, without an empty one for a closing newline. */
export function linesOf(text: string): readonly string[] {
  if (text === '') return [];
  return (text.endsWith('\n') ? text.slice(0, -1) : text).split('\n');
}
