import type { IDecoration, Terminal } from '@xterm/xterm';

/** The mark on the line that was gone to; there is one at a time. */
export class LineMark {
  readonly #terminal: Terminal;
  #decoration: IDecoration | undefined;

  constructor(terminal: Terminal) {
    this.#terminal = terminal;
  }

  /** Marks a line by its first row and the number of its rows. */
  put(row: number, height: number): void {
    this.remove();
    const { active } = this.#terminal.buffer;
    const marker = this.#terminal.registerMarker(row - active.baseY - active.cursorY);
    this.#decoration = this.#terminal.registerDecoration({ marker, width: this.#terminal.cols, height });
    this.#decoration?.onRender((element) => {
      if (element.classList.contains('found')) return;
      element.classList.add('found');
      // Where the pane does not fit into its box.
      element.scrollIntoView({ block: 'nearest', inline: 'nearest' });
    });
  }

  remove(): void {
    this.#decoration?.marker.dispose();
    this.#decoration = undefined;
  }
}
