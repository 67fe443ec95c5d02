/** A flood is told in pieces that somebody can read. */
const everyMs = 100;
const mostChars = 4000;

/** Passes on a text as it comes, a little of it at a time; of too much only the end. */
export class Partials {
  readonly #tell: (text: string) => void;
  #text = '';
  #timer: NodeJS.Timeout | undefined;

  constructor(tell: (text: string) => void) {
    this.#tell = tell;
  }

  take(text: string): void {
    this.#text += text;
    if (this.#text.length > mostChars) this.#text = `…${this.#text.slice(-mostChars)}`;
    this.#timer ??= setTimeout(() => this.#flush(), everyMs).unref();
  }

  end(): void {
    this.#flush();
  }

  #flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#text !== '') this.#tell(this.#text);
    this.#text = '';
  }
}
