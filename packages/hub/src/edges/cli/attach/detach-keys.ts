/** What the keyboard brought, as a terminal is to take it. */
export interface Typed {
  readonly text: string;
  readonly detach: boolean;
}

/** How terminals say Ctrl-b and d: plain, as xterm's modifyOtherKeys, and as kitty's keyboard protocol. */
const prefixes = ['\x02', '\x1b[27;5;98~', '\x1b[98;5u'];
const leaves = ['d', '\x1b[100u', '\x1b[100;1u'];

/** Ctrl-b d leaves, Ctrl-b Ctrl-b types one Ctrl-b, and before any other key Ctrl-b is typed as it is. */
export class DetachKeys {
  /** A prefix that waits for the key behind it. */
  #pending = '';

  take(given: string): Typed {
    let text = '';
    let rest = given;
    while (rest !== '') {
      const prefix = prefixes.find((one) => rest.startsWith(one));
      if (this.#pending !== '') {
        const pending = this.#pending;
        this.#pending = '';
        if (leaves.some((one) => rest.startsWith(one))) return { text, detach: true };
        text += pending;
        if (prefix !== undefined) rest = rest.slice(prefix.length);
      } else if (prefix !== undefined) {
        this.#pending = prefix;
        rest = rest.slice(prefix.length);
      } else {
        const next = nextPrefix(rest);
        text += rest.slice(0, next);
        rest = rest.slice(next);
      }
    }
    return { text, detach: false };
  }
}

function nextPrefix(text: string): number {
  const places = prefixes.map((prefix) => text.indexOf(prefix)).filter((place) => place >= 0);
  return Math.min(text.length, ...places);
}
