import type { ParamsOf } from '@polyphony/protocol';
import type { Env } from './env.ts';
import { connectHub } from './find-hub.ts';
import type { Output } from './output.ts';
import { revealedLine } from './revealed.ts';

/** So long whoever draws a status line waits at most. */
const mostMs = 1_000;

/**
 * Project, session and driver, for whoever shows them again and again: nothing and no error while no hub answers, and none
 * is started for it.
 */
export async function statusLine(env: Env, of: ParamsOf<'floor:status'>, out: Output): Promise<void> {
  // A hub that is stopped takes the call and does not answer.
  const late = setTimeout(() => process.exit(0), mostMs);
  try {
    const { line } = await connectHub(env).call('floor:status', of);
    if (line !== '') out.line(revealedLine(line));
  } catch {
    // Trouble would stand in the line of somebody who has not asked.
  } finally {
    clearTimeout(late);
  }
}
