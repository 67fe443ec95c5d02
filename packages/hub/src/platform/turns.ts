/** Work on the same thing happens one after the other, in the order it was asked for. */
export class Turns {
  readonly #tails = new Map<string, Promise<unknown>>();

  take<T>(thing: string, work: () => Promise<T>): Promise<T> {
    const turn = (this.#tails.get(thing) ?? Promise.resolve()).then(work);
    const tail = turn
      .catch(() => undefined) // Whoever asked for it hears about its failure.
      .then(() => {
        if (this.#tails.get(thing) === tail) this.#tails.delete(thing);
      });
    this.#tails.set(thing, tail);
    return turn;
  }
}
