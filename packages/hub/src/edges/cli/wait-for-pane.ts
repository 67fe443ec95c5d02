import type { PaneWaitResult } from '@polyphony/protocol';
import { durationText } from '../../platform/duration.ts';
import type { Call } from './command.ts';
import { callOnPane } from './panes.ts';

interface WaitFlags {
  readonly exit?: boolean;
  readonly text?: string;
  /** Both in milliseconds. */
  readonly idle?: number;
  readonly timeout?: number;
  readonly since?: number;
}

const longestAskMs = 3_600_000;

/** Asks again and again when the time that was given is longer than a hub waits. */
export async function waitForPane({
  args: [paneId = ''],
  flags,
  hub,
  out,
  json,
}: Call & { flags: WaitFlags }): Promise<number> {
  const { text, idle, since, timeout = Number.POSITIVE_INFINITY } = flags;
  const { exit = text === undefined && idle === undefined } = flags;
  const until = performance.now() + timeout;
  const what = {
    ...(exit && { exit }),
    ...(text !== undefined && { text }),
    ...(idle !== undefined && { idleMs: idle }),
  };
  let from = since;
  for (;;) {
    const timeoutMs = Math.round(Math.min(longestAskMs, Math.max(1, until - performance.now())));
    const range = { ...(from !== undefined && { since: from }), timeoutMs };
    const result = await callOnPane<PaneWaitResult>(hub, 'pane:wait', { paneId, ...what, ...range });
    if (result.reason === 'timeout' && performance.now() < until) {
      from = result.next;
      continue;
    }
    if (json) out.json(result);
    else if (result.match) out.line(result.match.text);
    else if (result.reason === 'exit')
      out.note(`${paneId} ended with ${result.exitSignal ?? result.exitCode ?? 'an unknown result'}.`);
    if (result.reason === 'timeout') {
      if (!json) out.note(`poly: ${durationText(timeout)} have passed, and ${paneId} ${missed(flags)}.`);
      return 5;
    }
    // Whoever waited for something else has not got it.
    return result.reason === 'exit' && !exit ? 1 : 0;
  }
}

function missed({ text, idle, since }: WaitFlags): string {
  if (text !== undefined) {
    const from = since === undefined ? ' since then (--since 0 counts all it has printed)' : '';
    return `has printed nothing that matches "${text}"${from}`;
  }
  if (idle === undefined) return 'has not ended';
  return `has not printed something and then been silent for ${durationText(idle)}`;
}
