import type { ByteRing } from './byte-ring.ts';

const defaultBudget = 512 * 1024 * 1024;

interface Use {
  readonly family: string;
  /** What it took when it was last used. */
  readonly held: number;
}

/**
 * What the output of all panes may take together. The family that has most gives up first, so that none gets more by
 * starting panes; in it, whoever was used longest ago gives up its oldest output.
 */
export class OutputBudget {
  most: number = defaultBudget;
  /** In the order of their last use. */
  readonly #rings = new Map<ByteRing, Use>();
  readonly #families = new Map<string, number>();
  #held = 0;

  /** Has been read or written. */
  use(ring: ByteRing, family = ''): void {
    this.drop(ring);
    this.#rings.set(ring, { family, held: ring.held });
    this.#count(family, ring.held);
    if (this.#held > this.most) this.#makeRoom();
  }

  drop(ring: ByteRing): void {
    const use = this.#rings.get(ring);
    if (use) this.#count(use.family, -use.held);
    this.#rings.delete(ring);
  }

  #count(family: string, bytes: number): void {
    this.#held += bytes;
    const held = (this.#families.get(family) ?? 0) + bytes;
    if (held > 0) this.#families.set(family, held);
    else this.#families.delete(family);
  }

  /** Until there is room, or only the newest output of each is left. */
  #makeRoom(): void {
    const givers = new Set(this.#families.keys());
    while (this.#held > this.most && givers.size > 0) {
      const [richest = '', next] = [...givers].sort((a, b) => this.#heldBy(b) - this.#heldBy(a));
      const gave = this.#giveUp(richest, next === undefined ? 0 : this.#heldBy(next));
      if (!gave) givers.delete(richest);
    }
  }

  readonly #heldBy = (family: string): number => this.#families.get(family) ?? 0;

  /** Gives back memory of a family while there is too little room and it has more than the next; answers whether it could. */
  #giveUp(family: string, nextHeld: number): boolean {
    let gave = false;
    for (const [ring, use] of this.#rings) {
      if (use.family !== family) continue;
      let { held } = use;
      while (this.#held > this.most && (!gave || this.#heldBy(family) > nextHeld) && ring.giveUp()) {
        gave = true;
        this.#count(family, ring.held - held);
        held = ring.held;
      }
      this.#rings.set(ring, { family, held });
      if (this.#held <= this.most || (gave && this.#heldBy(family) <= nextHeld)) break;
    }
    return gave;
  }
}
