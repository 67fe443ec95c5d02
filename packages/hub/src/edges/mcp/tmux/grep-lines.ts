import { createContext, runInContext } from 'node:vm';
import { PolyError } from '@polyphony/protocol';

/** How long a pattern may take: one that has to try everything must not hold up the hub. */
const patienceMs = 200;
/** How often one is tried that was stopped by the clock before it had had that time of a processor. */
const mostTries = 5;
const source = 'lines.filter((line) => pattern.test(line))';

/** The lines that match, of those a terminal holds. */
export function grepLines(lines: readonly string[], pattern: string, ignoreCase: boolean): readonly string[] {
  const context = createContext({ lines, pattern: compile(pattern, ignoreCase) });
  for (let tries = 1; ; tries++) {
    const before = process.cpuUsage();
    try {
      return runInContext(source, context, { timeout: patienceMs }) as readonly string[];
    } catch (cause) {
      const { user, system } = process.cpuUsage(before);
      // On a machine that is busy with others the time has passed without us.
      if ((user + system) / 1000 < patienceMs / 2 && tries < mostTries) continue;
      throw tooSlow(pattern, cause);
    }
  }
}

function tooSlow(pattern: string, cause: unknown): PolyError {
  return new PolyError('timed_out', `the pattern ${JSON.stringify(pattern)} takes too long on this text.`, {
    hint: 'Write it without one repetition inside another.',
    cause,
  });
}

function compile(pattern: string, ignoreCase: boolean): RegExp {
  try {
    return new RegExp(pattern, ignoreCase ? 'iu' : 'u');
  } catch {
    // Many patterns that other programs take are refused only by the stricter reading.
    try {
      return new RegExp(pattern, ignoreCase ? 'i' : '');
    } catch (cause) {
      throw new PolyError(
        'invalid_arguments',
        `pattern is no regular expression: ${(cause as Error).message}.`,
        { cause },
      );
    }
  }
}
