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

/** Ends a look that only asks whether anything differs. */
class Differs extends Error {}

/** What was found so far. A schema that is met from several sides is told once, and breaks when it breaks one of them. */
export class Changes {
  readonly #found = new Map<string, ContractChange>();
  readonly #pairs: { left: number };
  readonly #onlyAsks: boolean;

  constructor(pairs: { left: number } = { left: mostPairs }, onlyAsks = false) {
    this.#pairs = pairs;
    this.#onlyAsks = onlyAsks;
  }

  add(direction: Direction, { kind, path, message, before, after }: Found): void {
    if (this.#onlyAsks && kind !== 'annotation-changed') throw new Differs();
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

  /** Whether a look finds anything that matters: it ends with the first, is not told, and has the same limits. */
  anyIn(look: (changes: Changes) => void): boolean {
    try {
      look(new Changes(this.#pairs, true));
      return false;
    } catch (error) {
      if (error instanceof Differs) return true;
      throw error;
    }
  }

  list(): readonly ContractChange[] {
    return [...this.#found.values()];
  }

  #stop(path: string): void {
    if (this.#onlyAsks) throw new Differs();
    this.#found.set('limit-reached', limitReached(path));
  }
}

/** That there is more than is compared. */
export function limitReached(path = ''): ContractChange {
  const kind = 'limit-reached';
  const message = 'there is more than is compared: look at both versions';
  return { path, kind, breaking: isBreaking(kind, 'unknown'), message };
}

/** A whole schema need not be told again. */
function shortened(value: unknown): unknown {
  const text = JSON.stringify(value);
  return text.length <= mostShown ? value : `${text.slice(0, mostShown)}…`;
}
