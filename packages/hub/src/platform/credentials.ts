import { createHmac, hash, timingSafeEqual } from 'node:crypto';
import { lstatSync, readFileSync } from 'node:fs';
import { PolyError } from '@polyphony/protocol';
import { writePrivate } from './private-files.ts';
import type { Random } from './random.ts';

/** Tokens are kept and compared as digests: neither a stored row nor the time of an answer gives one away. */
export function digest(token: string): Buffer {
  return hash('sha256', token, 'buffer');
}

/** Proves that somebody who has the token wrote the text. */
export function signature(text: string, token: string): Buffer {
  return createHmac('sha256', token).update(text).digest();
}

export function sameDigest(a: Buffer, b: Buffer): boolean {
  return a.length === b.length && timingSafeEqual(a, b);
}

/** The user's token, made when there is none. Clients of the same user read it from the same file. */
export function userToken(file: string, random: Random): string {
  const stat = lstatSync(file, { throwIfNoEntry: false });
  if (!stat) {
    const token = random.token();
    writePrivate(file, `${token}\n`);
    return token;
  }
  if (!stat.isFile() || stat.mode & 0o077) {
    throw new PolyError('conflict', `${file} can be read by others, or is no file.`, {
      hint: `Delete it: a new token is made at the next start.`,
    });
  }
  const token = readFileSync(file, 'utf8').trim();
  if (/^[\w-]{43}$/.test(token)) return token;
  throw new PolyError('conflict', `${file} holds no token.`, {
    hint: 'Delete it: a new one is made at the next start.',
  });
}
