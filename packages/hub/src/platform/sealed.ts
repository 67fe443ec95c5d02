import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { lstatSync, readFileSync } from 'node:fs';
import { PolyError } from '@polyphony/protocol';
import { writePrivate } from './private-files.ts';

const keyBytes = 32;
const nonceBytes = 12;
const tagBytes = 16;

/** The key in a file that nobody else can read; made when there is none and it is asked for. */
export function sealingKey(file: string): Buffer {
  const stat = lstatSync(file, { throwIfNoEntry: false });
  if (!stat) {
    const key = randomBytes(keyBytes);
    writePrivate(file, key);
    return key;
  }
  const key = stat.isFile() && !(stat.mode & 0o077) ? readFileSync(file) : undefined;
  if (key?.length === keyBytes) return key;
  throw new PolyError('conflict', `${file} can be read by others, or holds no key.`, {
    hint: `Put back the key that was there, with chmod 600. Without it what was sealed is lost: delete the file, and give the secrets again.`,
  });
}

/** A text that only who has the key can read, bound to what it is for (AES-256-GCM). */
export function seal(text: string, about: string, key: Buffer): Buffer {
  const nonce = randomBytes(nonceBytes);
  const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(Buffer.from(about));
  return Buffer.concat([nonce, cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()]);
}

/** The text, or nothing where it was sealed by another key, for something else, or was changed. */
export function unseal(sealed: Uint8Array, about: string, key: Buffer): string | undefined {
  const bytes = Buffer.from(sealed.buffer, sealed.byteOffset, sealed.byteLength);
  if (bytes.length < nonceBytes + tagBytes) return undefined;
  const cipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, nonceBytes))
    .setAAD(Buffer.from(about))
    .setAuthTag(bytes.subarray(-tagBytes));
  try {
    const text = cipher.update(bytes.subarray(nonceBytes, -tagBytes));
    return Buffer.concat([text, cipher.final()]).toString('utf8');
  } catch {
    return undefined; // The tag does not fit.
  }
}
