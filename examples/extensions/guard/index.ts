import type { ExtensionAPI } from 'poly/types';
import { z } from 'zod';

export const name = 'guard';

const dangers: readonly (readonly [pattern: RegExp, reason: string])[] = [
  [/\brm\s+(-\w+\s+)*-\w*r/, 'it deletes whole folders'],
  [/\bgit\s+push\b.*\s(-f|--force)\b/, 'it overwrites what others have pushed'],
];

const reasonAgainst = (command: string): string | undefined =>
  dangers.find(([pattern]) => pattern.test(command))?.[1];

/** Keeps `shell:run` from commands that destroy, and says beforehand which ones those are. */
export default (poly: ExtensionAPI): void => {
  poly.registerAction({
    name: 'check',
    summary: 'Says whether a command would be let through.',
    effect: 'read',
    parameters: z.strictObject({ command: z.string() }),
    result: z.object({ allowed: z.boolean(), reason: z.string().optional() }),
    execute({ command }) {
      const reason = reasonAgainst(command);
      return { allowed: reason === undefined, reason };
    },
  });

  poly.on('action:start', async ({ payload }) => {
    if (payload.actionName !== 'shell:run') return;
    const { command } = payload.params as { command: string };
    const reason = reasonAgainst(command);
    if (reason === undefined) return;
    await poly.emit('stopped', { command, reason });
    return { cancel: true, reason };
  });
};
