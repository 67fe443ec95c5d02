export interface Size {
  readonly cols: number;
  readonly rows: number;
}

/**
 * The sizes of the terminals that show a pane, each on a connection of its own. The one that was used last decides, so
 * that whoever types has the pane at their own size; when it goes, the one before.
 */
export class ShownSizes {
  readonly #resize: (pane: string, size: Size) => Promise<void>;
  /** By pane, the one used last at the end. */
  readonly #shown = new Map<string, Map<object, Size>>();

  constructor(resize: (pane: string, size: Size) => Promise<void>) {
    this.#resize = resize;
  }

  async show(terminal: object, pane: string, size: Size): Promise<void> {
    const shown = this.#shown.get(pane) ?? new Map<object, Size>();
    this.#shown.set(pane, shown);
    shown.delete(terminal);
    shown.set(terminal, size);
    await this.#resize(pane, size);
  }

  /** Says that somebody types there. */
  async use(terminal: object, pane: string): Promise<void> {
    const shown = this.#shown.get(pane);
    const size = shown?.get(terminal);
    if (shown && size && [...shown.keys()].at(-1) !== terminal) await this.show(terminal, pane, size);
  }

  /** Says that a terminal no longer shows this pane, or any. */
  async leave(terminal: object, pane?: string): Promise<void> {
    for (const [id, shown] of this.#shown) {
      if (pane !== undefined && id !== pane) continue;
      const decided = [...shown.keys()].at(-1) === terminal;
      if (!shown.delete(terminal)) continue;
      if (shown.size === 0) this.#shown.delete(id);
      const next = [...shown.values()].at(-1);
      if (decided && next) await this.#resize(id, next);
    }
  }
}
