/** What every store can keep: no NUL, and no half of a pair that stands for one character. */
export const isStorable = (text: string): boolean => text.isWellFormed() && !text.includes('\0');
export const mustBeStorable = 'must hold no NUL and no half of a surrogate pair';

export const isOneLine = (text: string): boolean => !/[\r\n]/.test(text);
export const mustBeOneLine = 'must be one line';

/** How many bytes a text takes that is well formed. */
export function utf8Length(text: string): number {
  let bytes = text.length;
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    // Each half of a pair takes two of its four bytes.
    if (unit >= 0x80) bytes += unit >= 0x800 && (unit < 0xd800 || unit > 0xdfff) ? 2 : 1;
  }
  return bytes;
}
