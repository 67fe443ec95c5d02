import { PolyError } from '@polyphony/protocol';
import type { HiddenValues } from '../../platform/hidden-values.ts';
import type { Log } from '../../platform/log.ts';
import { seal, sealingKey, unseal } from '../../platform/sealed.ts';
import type { Statement, Store } from '../../store/store.ts';

interface SealedRow {
  readonly agent: string;
  readonly variable: string;
  readonly sealed: Uint8Array;
}

export interface SecretSafeOptions {
  readonly store: Store;
  /** Where the key is; it is made with the first secret. */
  readonly keyFile: string;
  readonly hidden: HiddenValues;
  readonly log: Log;
}

/** Secrets of named agents: sealed in the record, open in memory only, and hidden in whatever is written down. */
export class SecretSafe {
  readonly #options: SecretSafeOptions;
  /** By agent and variable; nothing where it cannot be opened. */
  readonly #open = new Map<string, Map<string, string | undefined>>();

  private constructor(options: SecretSafeOptions) {
    this.#options = options;
  }

  static async open(options: SecretSafeOptions): Promise<SecretSafe> {
    const safe = new SecretSafe(options);
    const rows = await options.store.query<SealedRow>('SELECT agent, variable, sealed FROM named_secrets');
    if (rows.length > 0) safe.#read(rows);
    return safe;
  }

  namesOf(agent: string): readonly string[] {
    return [...(this.#open.get(agent)?.keys() ?? [])].sort();
  }

  /** The variables of an agent; throws where one of them cannot be opened. */
  variablesOf(agent: string): Readonly<Record<string, string>> {
    const entries = [...(this.#open.get(agent) ?? [])];
    const lost = entries.flatMap(([name, value]) => (value === undefined ? name : []));
    if (lost.length === 0) return Object.fromEntries(entries as [string, string][]);
    throw new PolyError('unavailable', `the secrets ${lost.join(', ')} of ${agent} cannot be opened.`, {
      hint: `Give them again: poly agent secret ${agent} ${lost[0]}`,
    });
  }

  keep(agent: string, variable: string, value: string): Statement {
    const key = sealingKey(this.#options.keyFile);
    return {
      sql: `INSERT INTO named_secrets (agent, variable, sealed) VALUES (?, ?, ?)
        ON CONFLICT (agent, variable) DO UPDATE SET sealed = excluded.sealed`,
      values: [agent, variable, seal(value, aboutOf(agent, variable), key)],
    };
  }

  drop(agent: string, variable: string): Statement {
    return {
      sql: 'DELETE FROM named_secrets WHERE agent = ? AND variable = ?',
      values: [agent, variable],
    };
  }

  dropAll(agent: string): Statement {
    return { sql: 'DELETE FROM named_secrets WHERE agent = ?', values: [agent] };
  }

  /** Hides a value before it is kept; to be called before the commit, and `put` after it. */
  foresee(value: string): void {
    this.#options.hidden.set([...this.#values(), value]);
  }

  put(agent: string, variable: string, value: string | null): void {
    const held = this.#open.get(agent) ?? new Map<string, string | undefined>();
    if (value === null) held.delete(variable);
    else held.set(variable, value);
    this.#open.set(agent, held);
    this.#options.hidden.set(this.#values());
  }

  forget(agent: string): void {
    this.#open.delete(agent);
    this.#options.hidden.set(this.#values());
  }

  #read(rows: readonly SealedRow[]): void {
    const { keyFile, log } = this.#options;
    let key: Buffer | undefined;
    try {
      key = sealingKey(keyFile);
    } catch (error) {
      log.error('secrets of named agents cannot be opened', { error });
    }
    for (const { agent, variable, sealed } of rows) {
      const value = key && unseal(sealed, aboutOf(agent, variable), key);
      if (key && value === undefined)
        log.error('a secret of a named agent cannot be opened', { agent, variable });
      const held = this.#open.get(agent) ?? new Map<string, string | undefined>();
      this.#open.set(agent, held.set(variable, value));
    }
    this.#options.hidden.set(this.#values());
  }

  #values(): readonly string[] {
    return [...this.#open.values()].flatMap((held) =>
      [...held.values()].filter((value) => value !== undefined),
    );
  }
}

const aboutOf = (agent: string, variable: string): string => `poly named secret\n${agent}\n${variable}`;
