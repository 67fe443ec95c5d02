import * as z from 'zod';

/** A name as it is compared: two that look alike are one. */
export const foldName = (name: string): string => name.normalize('NFC').toLowerCase();

const agentPattern = /^[a-z0-9][a-z0-9._-]{0,63}$/;
const labelPattern = /^[\p{L}\p{N}_][\p{L}\p{M}\p{N}._-]{0,63}$/u;
/** What would move a cursor, turn text around or cannot be seen. */
const unseen = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u;

/** The part of a participant's id behind `agent:`. */
export const agentName: z.ZodType<string> = z
  .string()
  .refine(
    (name) => agentPattern.test(foldName(name)),
    'must be 1-64 letters a-z, digits, ".", "_" or "-", starting with a letter or digit',
  );

/** What a project or a role is called. */
export const label: z.ZodType<string> = z
  .string()
  .refine(
    (name) => labelPattern.test(foldName(name)),
    'must be 1-64 letters or digits of any script, ".", "_" or "-", not starting with "." or "-"',
  );

/** What people see: any script, and nothing that cannot be seen. */
export const displayName: z.ZodType<string> = z
  .string()
  .refine(
    (name) => name.trim() !== '' && [...name].length <= 80 && !unseen.test(name),
    'must be 1-80 visible characters',
  );

/** A few words that a program says of itself. */
export const visibleText = (most: number): z.ZodType<string> =>
  z
    .string()
    .min(1)
    .max(most)
    .refine((text) => !unseen.test(text), 'must hold nothing that cannot be seen');

/** What the hub and people are called; no agent may be, and no agent may play such a role. */
const reserved = /^(__.*|hub|system|user|everyone|all|channel-proxy.*)$/;

export const isReservedName = (name: string): boolean => reserved.test(foldName(name));

/**
 * The project of whoever works in a folder and names none.
 *
 * @example projectOfFolder('/home/ada/My Shop/') // 'my-shop'
 */
export function projectOfFolder(folder: string | undefined): string {
  const last = (folder ?? '').split('/').findLast((part) => part !== '') ?? '';
  const plain = [
    ...foldName(last)
      .replace(/[^\p{L}\p{M}\p{N}._-]+/gu, '-')
      .replace(/^[^\p{L}\p{N}_]+|-+$/gu, ''),
  ]
    .slice(0, 64)
    .join('');
  return plain || 'default';
}
