import { Buffer } from 'node:buffer';

const shown = '[redacted secret]';

/** Texts that must be shown and kept nowhere: whatever is written down goes through here. */
export class HiddenValues {
  #forms: readonly string[] = [];

  set(values: Iterable<string>): void {
    // Also as JSON writes them, and JSON within JSON; the longest first, since one may be part of another.
    const forms = [...values].flatMap((value) => [value, escaped(value), escaped(escaped(value))]);
    this.#forms = [...new Set(forms)].sort((a, b) => b.length - a.length);
  }

  /** The text without them. */
  hide(text: string): string {
    let out = text;
    for (const form of this.#forms) if (out.includes(form)) out = out.replaceAll(form, shown);
    return out;
  }

  /** The same of whatever JSON can say. */
  hideIn(value: unknown): unknown {
    if (this.#forms.length === 0 || value === undefined) return value;
    const text = JSON.stringify(value);
    const out = this.hide(text);
    return out === text ? value : JSON.parse(out);
  }

  /** The same of whatever a database keeps. */
  hideValue<T>(value: T | string | Uint8Array): T | string | Uint8Array {
    if (this.#forms.length === 0) return value;
    if (typeof value === 'string') return this.hide(value);
    if (!(value instanceof Uint8Array)) return value;
    // One letter a byte, so that bytes that are no text pass unchanged.
    const text = Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString('latin1');
    const forms = this.#forms.map((form) => Buffer.from(form).toString('latin1'));
    if (!forms.some((form) => text.includes(form))) return value;
    return Buffer.from(
      forms.reduce((out, form) => out.replaceAll(form, shown), text),
      'latin1',
    );
  }
}

const escaped = (text: string): string => JSON.stringify(text).slice(1, -1);
