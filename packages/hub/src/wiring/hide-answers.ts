import type { HiddenValues } from '../platform/hidden-values.ts';
import type { Dispatch } from '../registry/dispatch.ts';

/** What shows a terminal as it is; there a program says what it likes. */
const terminals: ReadonlySet<string> = new Set(['pane:read', 'pane:screen', 'pane:search', 'pane:wait']);

/** Answers of actions without secrets that somebody has put where they can be asked for. */
export function hideAnswers(dispatch: Dispatch, hidden: HiddenValues): Dispatch {
  return async (name, params, asker) => {
    const answer = await dispatch(name, params, asker);
    return terminals.has(name) ? answer : hidden.hideIn(answer);
  };
}
