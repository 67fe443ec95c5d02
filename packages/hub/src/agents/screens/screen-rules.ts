import { statSync } from 'node:fs';
import { join } from 'node:path';
import type { PaneScreen } from '@polyphony/protocol';
import { TimeGuard, TooSlow } from '../../platform/time-guard.ts';
import { type Reading, readTable, unknown } from '../read-screen.ts';
import type { VendorName } from '../vendors/vendor.ts';
import { chooseTables } from './choose-tables.ts';
import { filesIn, type RuleFiles, type RuleTable, readRuleFiles, stampOf } from './rule-files.ts';
import { readVersion } from './version.ts';

export interface ScreenRulesOptions {
  /** Folders with one folder of files for each agent: ours, and the user's, which outrank ours of the same version. */
  readonly shipped: string;
  readonly own: string;
  /** How long the reading of one screen may take. */
  readonly limitMs?: number;
}

/** The agents whose screens are read. */
export const describedVendors: readonly ['claude', 'codex', 'opencode', 'gemini'] = [
  'claude',
  'codex',
  'opencode',
  'gemini',
];

/** In cells. Our own expressions read such a one in a moment, whatever it shows; being guarded takes as long again. */
const smallScreen = 16_000;

/** By what the screens of agents are read. The user's files are looked at again whenever a screen is. */
export class ScreenRules {
  readonly #shipped: ReadonlyMap<VendorName, RuleFiles>;
  readonly #ownFolder: string;
  readonly #own = new Map<VendorName, RuleFiles & { readonly stamp: string }>();
  /** The user's tables that could not read a screen, and why; each until its file is changed. */
  readonly #aside = new WeakMap<RuleTable, string>();
  readonly #guard: TimeGuard;

  constructor({ shipped, own, limitMs = 100 }: ScreenRulesOptions) {
    // Read once: an update replaces them under a hub that runs, and goes with the next hub.
    this.#shipped = new Map(describedVendors.map((vendor) => [vendor, readRuleFiles(join(shipped, vendor))]));
    this.#ownFolder = own;
    this.#guard = new TimeGuard(limitMs);
  }

  /** What an agent is doing, as far as its screen really tells; anything else is `unknown`. */
  readScreen(vendor: VendorName, screen: PaneScreen, version?: unknown): Reading {
    const own = this.#ownRules(vendor).tables;
    const tables = [...own, ...(this.#shipped.get(vendor)?.tables ?? [])].filter(
      (table) => !this.#aside.has(table),
    );
    const chosen = chooseTables(tables, readVersion(version));
    let trying: RuleTable | undefined;
    const readWith = (table: RuleTable): Reading | undefined => {
      trying = table;
      return readTable(table, screen);
    };
    const read = (): Reading => readTables(chosen, readWith);
    const harmless = screen.rows * screen.cols <= smallScreen && !chosen.some((table) => own.includes(table));
    try {
      return harmless ? read() : this.#guard.run(read);
    } catch (error) {
      // Whatever an expression cannot do: V8 finds some too large, or too deep, only when they are used.
      const why = error instanceof TooSlow ? error.message : `it failed: ${(error as Error).message}`;
      // Of ours it is the screen that is strange, and the next one may not be.
      if (!trying || !own.includes(trying))
        return { ...unknown, evidence: `a screen that cannot be read: ${why}` };
      this.#aside.set(trying, why);
      return this.readScreen(vendor, screen, version);
    }
  }

  /** What is wrong with files of rules, for people. */
  get problems(): readonly string[] {
    const rules = describedVendors.map((vendor) => this.#ownRules(vendor));
    return [
      ...[...this.#shipped.values(), ...rules].flatMap(({ problems }) => problems),
      ...rules
        .flatMap(({ tables }) => tables)
        .flatMap((table) => {
          const why = this.#aside.get(table);
          return why === undefined
            ? []
            : [
                `${table.file} was set aside when it read a screen: ${why}. Change it to have it tried again.`,
              ];
        }),
      ...misplaced(this.#ownFolder),
    ];
  }

  #ownRules(vendor: VendorName): RuleFiles {
    const folder = join(this.#ownFolder, vendor);
    const stamp = stampOf(folder);
    const before = this.#own.get(vendor);
    if (before?.stamp === stamp) return before;
    const rules = { ...readRuleFiles(folder), stamp };
    this.#own.set(vendor, rules);
    return rules;
  }
}

/** The first that knows the screen tells. One without a composer leaves that to the next that has one. */
function readTables(
  tables: readonly RuleTable[],
  readWith: (table: RuleTable) => Reading | undefined,
): Reading {
  for (const [index, table] of tables.entries()) {
    const reading = readWith(table);
    if (!reading) continue;
    const told = { ...reading, rules: table.file };
    if (table.composer || reading.status === 'blocked') return told;
    const { composer, queued } = readTables(tables.slice(index + 1), readWith);
    return { ...told, ...(composer && { composer }), ...(queued && { queued }) };
  }
  return unknown;
}

/** What lies in the user's folder where nobody would look for it. */
function misplaced(folder: string): readonly string[] {
  return filesIn(folder)
    .filter((name) => !describedVendors.some((vendor) => vendor === name))
    .map((name) => join(folder, name))
    .filter((path) => path.endsWith('.json') || statSync(path, { throwIfNoEntry: false })?.isDirectory())
    .map((path) => `${path} is not looked at: rules are in a folder named ${describedVendors.join(', ')}.`);
}
