/** Which panes people have before them now, each on a connection of their own. */
export class Lookers {
  readonly #seen = new Map<object, ReadonlySet<string>>();
  readonly #listeners = new Set<(pane: string) => void>();

  /** Says all that one person has before them; nothing when they have gone. */
  set(looker: object, panes: readonly string[]): void {
    const before = this.#seen.get(looker);
    if (panes.length === 0) this.#seen.delete(looker);
    else this.#seen.set(looker, new Set(panes));
    for (const pane of panes) if (!before?.has(pane)) for (const listener of this.#listeners) listener(pane);
  }

  has(pane: string): boolean {
    return [...this.#seen.values()].some((panes) => panes.has(pane));
  }

  /** Told of each pane that somebody begins to look at. */
  onLook(listener: (pane: string) => void): void {
    this.#listeners.add(listener);
  }
}
