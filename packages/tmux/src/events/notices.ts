import { decode } from '../engines/control/lines.ts';
import type { TmuxEvent, TmuxEventType } from './event.ts';
import { parseNotification, typeOf } from './notification.ts';

/** A block that does not end was none. */
const longestBody = 10_000;
/** tmux writes a block at one go: what has come since the beginning of one that is still open stood in none. */
const longestMs = 1_000;

/**
 * Turns the lines that answer no command into events: notifications one by one, a hook's block as a whole.
 * `wants` spares the reading of what nobody listens to.
 */
export function createNoticeReader(
  onEvent: (event: TmuxEvent) => void,
  wants: (type: TmuxEventType) => boolean,
  now: () => number = () => performance.now(),
): (line: string) => void {
  let guard: string | null = null;
  let since = 0;
  let body: string[] = [];
  const read = (line: string): void => {
    if (guard !== null && now() - since > longestMs) {
      const held = body;
      guard = null;
      body = [];
      for (const one of held) read(one);
    }
    if (guard !== null) {
      if (line !== `%end ${guard}` && line !== `%error ${guard}` && body.length < longestBody) {
        body.push(line);
        return;
      }
      onEvent({ type: 'unsolicited', lines: body.map(decode), failed: line.startsWith('%error ') });
      guard = null;
      body = [];
    } else if (line.startsWith('%begin ')) {
      guard = line.slice(7);
      since = now();
    } else if (!line.startsWith('%')) {
      onEvent({ type: 'unsolicited', lines: [decode(line)], failed: false });
    } else if (wants(typeOf(line))) {
      onEvent(parseNotification(line));
    }
  };
  return read;
}
