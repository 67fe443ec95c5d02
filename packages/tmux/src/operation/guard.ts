import { randomBytes } from 'node:crypto';

/** Drawn ahead, so that a guard costs a slice and not a system call. */
let drawn = '';
let used = 0;

/** Sixteen hex digits nobody can guess: they tell what tmux says from what programs printed. */
export function newGuard(): string {
  if (used >= drawn.length) {
    drawn = randomBytes(4096).toString('hex');
    used = 0;
  }
  used += 16;
  return drawn.slice(used - 16, used);
}
