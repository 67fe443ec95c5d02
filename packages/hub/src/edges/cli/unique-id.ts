import { PolyError } from '@polyphony/protocol';

/** The id that begins so, or the word itself when none does. */
export function uniqueId(start: string, ids: readonly string[]): string {
  const candidates = ids.filter((id) => id.startsWith(start));
  if (ids.includes(start) || candidates.length === 0) return start;
  if (candidates.length === 1) return candidates[0] as string;
  throw new PolyError('invalid_arguments', `"${start}" may be any of ${candidates.join(', ')}.`, {
    hint: 'Say more of the id.',
  });
}
