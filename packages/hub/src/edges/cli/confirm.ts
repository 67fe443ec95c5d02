import { PolyError } from '@polyphony/protocol';

interface Question {
  /** What would be done, behind "this would". */
  readonly would: string;
  readonly question: string;
  readonly hint?: string;
}

/** Asks before something that cannot be had back; where nobody can be asked, `--yes` must have been said. */
export async function confirm(
  { yes = false, json }: { readonly yes?: boolean | undefined; readonly json: boolean },
  { would, question, hint = 'Say --yes to do it.' }: Question,
): Promise<boolean> {
  if (yes) return true;
  if (json || !process.stdin.isTTY || !process.stderr.isTTY)
    throw new PolyError('conflict', `this would ${would}, and nobody can be asked.`, {
      hint,
    });
  const { createInterface } = await import('node:readline/promises');
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  try {
    const asked = lines.question(`${question} [y/N] `);
    const left = new Promise<string>((resolve) => lines.once('close', () => resolve('')));
    return /^y(es)?$/i.test((await Promise.race([asked, left])).trim());
  } finally {
    lines.close();
  }
}
