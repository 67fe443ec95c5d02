import { readdirSync, readFileSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { readGiven } from '@polyphony/protocol';
import { type ScreenTable, screenTable } from './screen-table.ts';

/** A table, and where it is written. */
export interface RuleTable extends ScreenTable {
  readonly file: string;
}

export interface RuleFiles {
  readonly tables: readonly RuleTable[];
  /** What is wrong with those that cannot be used, for people. */
  readonly problems: readonly string[];
}

const mostBytes = 256 * 1024;

/** Changes whenever a file of rules in the folder does. */
export function stampOf(folder: string): string {
  return namesIn(folder)
    .map((name) => {
      const {
        mtimeMs = 0,
        size = 0,
        ino = 0,
      } = statSync(join(folder, name), { throwIfNoEntry: false }) ?? {};
      return `${name} ${mtimeMs} ${size} ${ino}`;
    })
    .join('\n');
}

/** Reads the rules of one agent. A file that cannot be used is told of, and left out. */
export function readRuleFiles(folder: string): RuleFiles {
  const tables: RuleTable[] = [];
  const problems: string[] = [];
  for (const name of namesIn(folder)) {
    const file = join(folder, name);
    try {
      tables.push({ ...readGiven(screenTable, parsed(file), { what: file }), file });
    } catch (error) {
      problems.push(`${(error as Error).message} No screen is read by it.`);
    }
  }
  return { tables, problems };
}

function parsed(file: string): unknown {
  const refuse = (why: string): never => {
    throw new Error(`${file} ${why}.`);
  };
  const stat = statSync(file, { throwIfNoEntry: false });
  if (!stat?.isFile()) return refuse('is no file that can be read'); // A pipe would be waited for.
  if (stat.size > mostBytes) return refuse(`has ${stat.size} bytes, more than ${mostBytes}`);
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch (error) {
    return refuse(
      error instanceof SyntaxError
        ? `is no JSON: ${error.message.replace(/\s+/g, ' ')}`
        : `cannot be read: ${(error as Error).message}`,
    );
  }
}

/** The `.json` files, but for those beside a `.txt`: these belong to recordings. */
function namesIn(folder: string): readonly string[] {
  const names = filesIn(folder);
  const recorded = new Set(
    names.filter((name) => name.endsWith('.txt')).map((name) => basename(name, '.txt')),
  );
  return names.filter((name) => name.endsWith('.json') && !recorded.has(basename(name, '.json'))).sort();
}

export function filesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return []; // There need not be one; and one that nobody may look into holds no rules.
  }
}
