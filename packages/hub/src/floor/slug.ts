import type { Random } from '../platform/random.ts';

/** How many bytes a name has at first, and how often that is tried before it gets one more. */
const leastBytes = 2;
const triesALength = 3;

/** A name for a session: `s-7a3f`, and longer where the short ones are taken. */
export function drawSlug(random: Random, tries: number): string {
  return `s-${random.hex(leastBytes + Math.floor(tries / triesALength))}`;
}
