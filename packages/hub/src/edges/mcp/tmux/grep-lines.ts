import { PolyError } from '@polyphony/protocol';
import { TimeGuard } from '../../../platform/time-guard.ts';

/** How long a pattern may take: one that has to try everything must not hold up the hub. */
const patienceMs = 200;

/** The lines that match, of those a terminal holds. */
export function grepLines(lines: readonly string[], pattern: string, ignoreCase: boolean): readonly string[] {
  const expression = compile(pattern, ignoreCase);
  try {
    return new TimeGuard(patienceMs).run(() => lines.filter((line) => expression.test(line)));
  } catch (cause) {
    throw tooSlow(pattern, cause);
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
