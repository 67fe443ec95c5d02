import { type ChangeKind, type ContractChange, type Direction, isBreaking } from '@polyphony/protocol';

interface Found {
  readonly kind: ChangeKind;
  readonly path: string;
  readonly message: string;
  readonly before?: unknown;
  readonly after?: unknown;
}

/** How far documents are compared: what is larger was made to be. */
const mostChanges = 500;
const mostPairs = 10_000;
const deepest = 100;
const mostShown = 1000;

/** What was found so far. A schema that is met from several sides is told once, and breaks when it breaks one of them. */
export class Changes {
  readonly #found = new Map<string, ContractChange>();
  #pairs: { left: number };

  constructor(pairs: { left: number } = { left: mostPairs }) {
    this.#pairs = pairs;
  }

  add(direction: Direction, { kind, path, message, before, after }: Found): void {
    const key = `${kind} ${path} ${message}`;
    const breaking = isBreaking(kind, direction) || this.#found.get(key)?.breaking === true;
    if (!this.#found.has(key) && this.#found.size >= mostChanges) return void this.#stop(path);
    this.#found.set(key, {
      ...{ path, kind, breaking, message },
      ...(before !== undefined && { before: shortened(before) }),
      ...(after !== undefined && { after: shortened(after) }),
    });
  }

  /** Counts one more pair of schemas; answers whether it is to be compared. */
  mayGoOn(path: string, depth: number): boolean {
    this.#pairs.left -= 1;
    if (this.#pairs.left >= 0 && depth <= deepest) return true;
    this.#stop(path);
    return false;
  }

  /** For a look that is not told, with the same limits. */
  apart(): Changes {
    return new Changes(this.#pairs);
  }

  list(): readonly ContractChange[] {
    return [...this.#found.values()];
  }

  #stop(path: string): void {
    const kind = 'limit-reached';
    const message = 'there is more than is compared: look at both versions';
    this.#found.set(kind, { path, kind, breaking: isBreaking(kind, 'unknown'), message });
  }
}

/** A whole schema need not be told again. */
function shortened(value: unknown): unknown {
  const text = JSON.stringify(value);
  return text.length <= mostShown ? value : `${text.slice(0, mostShown)}…`;
}
