import type { ErrorInfo } from '@polyphony/protocol';

/** What stands where a terminal would. */
export const awayError: ErrorInfo = {
  code: 'unreachable',
  message: 'The hub is away: what the pane printed comes with it.',
};
