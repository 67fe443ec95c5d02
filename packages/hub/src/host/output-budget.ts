import type { ByteRing } from './byte-ring.ts';

const defaultBudget = 512 * 1024 * 1024;

/** What the output of all panes may take together: who was used longest ago gives up its oldest output first. */
export class OutputBudget {
  most: number = defaultBudget;
  /** In the order of their last use, with what they took then. */
  readonly #rings = new Map<ByteRing, number>();
  #held = 0;

  /** Has been read or written. */
  use(ring: ByteRing): void {
    this.drop(ring);
    this.#keep(ring);
    if (this.#held > this.most) this.#makeRoom();
  }

  drop(ring: ByteRing): void {
    this.#held -= this.#rings.get(ring) ?? 0;
    this.#rings.delete(ring);
  }

  #keep(ring: ByteRing): void {
    this.#rings.set(ring, ring.held);
    this.#held += ring.held;
  }

  #makeRoom(): void {
    for (const [ring, held] of this.#rings) {
      while (this.#held - held + ring.held > this.most && ring.giveUp()) {
        // Until there is room, or only its newest output is left.
      }
      this.#rings.set(ring, ring.held);
      this.#held += ring.held - held;
      if (this.#held <= this.most) return;
    }
  }
}
