/** A piece of memory, and the place in the output of its first byte. */
export interface Slab {
  readonly start: number;
  readonly bytes: Buffer;
}

const largestSlab = 256 * 1024;
const smallestSlab = 4 * 1024;

/**
 * Bytes by their place in the output, in shared memory, so that another thread can search them. A slab that is
 * forgotten is filled again: the collector does not see how large shared memory is, and would come too late.
 */
export class Slabs {
  #slabs: Slab[] = [];
  #spare: Buffer | null = null;
  #readers = 0;
  readonly #makeMemory: (size: number) => Buffer;
  /** How many bytes there have been. */
  end: number;
  /** How much memory they take. */
  held = 0;

  constructor(start = 0, { shared = true }: { readonly shared?: boolean | undefined } = {}) {
    this.end = start;
    this.#makeMemory = (size) => Buffer.from(shared ? new SharedArrayBuffer(size) : new ArrayBuffer(size));
  }

  append(chunk: Uint8Array): void {
    for (let rest = chunk; rest.length > 0; ) {
      const slab = this.#open();
      const at = this.end - slab.start;
      const part = rest.subarray(0, slab.bytes.length - at);
      slab.bytes.set(part, at);
      this.end += part.length;
      rest = rest.subarray(part.length);
    }
  }

  /** The slab that the next byte goes to. */
  #open(): Slab {
    const last = this.#slabs.at(-1);
    if (last && this.end < last.start + last.bytes.length) return last;
    // A quiet pane costs little: slabs grow with the output.
    const size = last ? Math.min(largestSlab, last.bytes.length * 2) : smallestSlab;
    const spare = this.#spare?.length === size ? this.#spare : null;
    if (spare) this.#spare = null;
    else this.held += size;
    const slab = { start: this.end, bytes: spare ?? this.#makeMemory(size) };
    this.#slabs.push(slab);
    return slab;
  }

  /** Forgets the slabs that hold nothing from an offset on. */
  dropBefore(offset: number): void {
    while (this.#slabs[1] && this.#slabs[1].start <= offset) {
      this.dropSpare();
      const dropped = this.#slabs.shift()?.bytes ?? null;
      if (this.#readers === 0) this.#spare = dropped;
      else this.held -= dropped?.length ?? 0;
    }
  }

  /** Forgets everything, and goes on so many bytes further. */
  leap(bytes: number): void {
    this.#slabs = [];
    this.#spare = null;
    this.held = 0;
    this.end += bytes;
  }

  dropSpare(): void {
    this.held -= this.#spare?.length ?? 0;
    this.#spare = null;
  }

  /** Where the second slab begins: what is before that can be given back. */
  get second(): number | undefined {
    return this.#slabs[1]?.start;
  }

  copy(from: number, to: number): Buffer {
    return Buffer.concat(partsBetween(this.#slabs, from, to));
  }

  /** At least one and at most so many bytes, those that lie together. */
  some(from: number, most: number): Buffer {
    const [part] = partsBetween(this.#slabs, from, Math.min(from + most, this.end));
    return Buffer.from(part ?? []);
  }

  byteAt(offset: number): number {
    const slab = this.#slabs[slabAt(this.#slabs, offset)];
    return slab?.bytes[offset - slab.start] ?? 0;
  }

  /** The memory itself, for another thread; none of it is filled again before it is let go. */
  share(from: number, to: number): { readonly slabs: readonly Slab[]; letGo(): void } {
    this.#readers++;
    const [first, last] = [slabAt(this.#slabs, from), slabAt(this.#slabs, to)];
    return { slabs: this.#slabs.slice(first, last + 1), letGo: () => this.#readers-- };
  }
}

/** The bytes of a range, in as many parts as they lie in. */
export function partsBetween(slabs: readonly Slab[], from: number, to: number): Buffer[] {
  const parts: Buffer[] = [];
  for (let i = slabAt(slabs, from), at = from; at < to; i++) {
    const slab = slabs[i];
    if (slab === undefined) break;
    const part = slab.bytes.subarray(at - slab.start, Math.min(to - slab.start, slab.bytes.length));
    parts.push(part);
    at += part.length;
  }
  return parts;
}

function slabAt(slabs: readonly Slab[], offset: number): number {
  let low = 0;
  for (let high = slabs.length - 1; low < high; ) {
    const middle = (low + high + 1) >> 1;
    if ((slabs[middle]?.start ?? 0) <= offset) low = middle;
    else high = middle - 1;
  }
  return low;
}
