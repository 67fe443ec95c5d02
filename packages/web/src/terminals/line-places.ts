import type { IMarker, Terminal } from '@xterm/xterm';

/** A row of the terminal, and how many lines had ended when it was drawn. */
interface Place {
  readonly lines: number;
  readonly marker: IMarker;
}

const newline = 0x0a;
/** Rows without a place between them: the walk from one to the next is short, and there are not too many. */
const linesApart = 250;
/** So far from where it should be a line is looked for. */
const farthest = 10_000;

/**
 * Where the lines that the hub numbers stand in a terminal. Newlines are counted as they are drawn, and now and then a
 * marker is left; from the nearest one the way is short, and the text of the line tells whether it led astray.
 */
export class LinePlaces {
  readonly #terminal: Terminal;
  #places: Place[] = [];
  #counted = 0;
  #first: Promise<number | undefined> = Promise.resolve(undefined);

  constructor(terminal: Terminal) {
    this.#terminal = terminal;
  }

  /** What comes now begins in the line of this number. */
  begin(first: Promise<number | undefined>): void {
    for (const { marker } of this.#places) marker.dispose();
    this.#places = [];
    this.#counted = 0;
    this.#first = first;
  }

  /** Counts bytes before they are drawn; whoever has drawn them calls what is answered. */
  count(bytes: Uint8Array): () => void {
    for (let at = bytes.indexOf(newline); at >= 0; at = bytes.indexOf(newline, at + 1)) this.#counted++;
    const lines = this.#counted;
    return () => this.#leave(lines);
  }

  /** The number of the oldest line that was drawn. */
  get first(): Promise<number | undefined> {
    return this.#first;
  }

  /** The first row of a line, if it still stands there. */
  async find(n: number, text: string): Promise<number | undefined> {
    const first = await this.#first;
    if (first === undefined) return undefined;
    const guess = this.#walk(n - first);
    const wanted = squeezed(text);
    for (let away = 0; away < farthest; away++)
      for (const row of away === 0 ? [guess] : [guess - away, guess + away])
        if (this.#isStart(row) && this.#reads(row, wanted)) return row;
    return undefined;
  }

  /** How many rows a line takes. */
  heightAt(row: number): number {
    let height = 1;
    while (this.#terminal.buffer.normal.getLine(row + height)?.isWrapped) height++;
    return height;
  }

  #leave(lines: number): void {
    if (this.#terminal.buffer.active.type !== 'normal') return;
    if (lines - (this.#places.at(-1)?.lines ?? -linesApart) < linesApart) return;
    this.#places = this.#places.filter(({ marker }) => !marker.isDisposed);
    this.#places.push({ lines, marker: this.#terminal.registerMarker(0) });
  }

  #walk(lines: number): number {
    const nearest = this.#places.findLast((place) => !place.marker.isDisposed && place.lines <= lines);
    let row = nearest?.marker.line ?? 0;
    for (let left = lines - (nearest?.lines ?? 0); left > 0; left--) row += this.heightAt(row);
    return row;
  }

  #isStart(row: number): boolean {
    return this.#terminal.buffer.normal.getLine(row)?.isWrapped === false;
  }

  #reads(row: number, wanted: string): boolean {
    let text = '';
    for (let at = row, end = row + this.heightAt(row); at < end; at++)
      text += this.#terminal.buffer.normal.getLine(at)?.translateToString(at === end - 1) ?? '';
    return squeezed(text) === wanted;
  }
}

/** Tabs become spaces on a terminal, and spaces at the end are not kept. */
const squeezed = (text: string): string => text.replaceAll(/\s+/g, ' ').trimEnd();
