import type { ExtensionAPI } from 'poly/types';

export const name = 'logger';

/** Writes a line to the hub's log for everything that happens; not what was said, which may be private. */
export default (poly: ExtensionAPI): void => {
  poly.on('*', ({ event, seq }, { caller, logger }) => {
    logger.info(event, { seq, by: caller.participant, pane: caller.pane });
  });
};
