import type { Operation } from '../operation/operation.ts';
import type { Text } from '../operation/outcome.ts';
import { exact } from '../operation/target.ts';
import { displayMessage } from '../operations/display-message.ts';

/** A read that answers with ids as words, `$1 @2 %3`: the mark of each says what it is. */
export type Probe = Operation<unknown, Text>;

/**
 * Finds the session of exactly this name, with its current window and pane.
 *
 * There is no such probe for windows: since 3.2 display-message answers for the current one when the window named in
 * a target does not exist. For a session that does not exist it answers nothing.
 *
 * @example new Plan().ensure(findSession('work'), newSession({ name: 'work' }))
 */
export function findSession(name: string): Probe {
  return displayMessage({ target: exact(name), message: '#{session_id} #{window_id} #{pane_id}' });
}
