import { readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { PolyError, readGiven } from '@polyphony/protocol';
import { parse } from 'smol-toml';
import * as z from 'zod';
import { durationMs } from './duration.ts';
import type { Rules } from './rules.ts';

export interface Config {
  readonly permission: {
    /** For how long the user is asked, in milliseconds; with 0 nobody is. */
    readonly timeout: number;
    readonly spawn: Rules;
    readonly write: Rules;
    readonly directory: Rules;
  };
  /** Where output is kept, and how much of it: of one pane, and of all together, in memory and on the disk. */
  readonly output: {
    readonly keep: 'memory' | 'disk';
    readonly pane_mb: number;
    readonly all_mb: number;
    readonly pane_disk_mb: number;
    readonly all_disk_mb: number;
  };
  /** What is wrong with the file, for people. */
  readonly problems: readonly string[];
}

const longestMs = 24 * 3_600_000;

const duration = z
  .string()
  .transform((text) => durationMs(text) ?? Number.NaN)
  .refine((ms) => ms <= longestMs, 'must be a time like "90s", "5m" or "1h", at most 24h');
const verdict = z.enum(['allow', 'ask', 'deny']);
const rules = z.record(z.string().min(1), verdict).default({});
/** A folder that is no whole path would fit nothing, and so deny nothing. */
const folder = z
  .string()
  .regex(/^([/*]|~(\/|$))/, 'must begin with "/", "~/" or "*"')
  .transform((pattern) => pattern.replace(/^~/, homedir()));
const output = z.strictObject({
  keep: z.enum(['memory', 'disk']).default('memory'),
  pane_mb: z.int().min(1).max(1024).default(16),
  all_mb: z.int().min(1).max(1_000_000).default(512),
  pane_disk_mb: z.int().min(1).max(100_000).default(64),
  all_disk_mb: z.int().min(2).max(10_000_000).default(2048),
});
const known = z.strictObject({
  output: output.prefault({}),
  permission: z
    .strictObject({
      timeout: duration.prefault('5m'),
      spawn: rules,
      write: rules,
      directory: z.record(folder, verdict).default({}),
    })
    .prefault({}),
});
const denyAll: Rules = { '*': 'deny' };

/** Reads the user's configuration. One that cannot be read denies: it may have meant to. */
export function readConfig(file: string): Config {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return { ...known.parse({}), problems: [] };
    return denied(`${file} cannot be read: ${(error as Error).message}`);
  }
  try {
    return { ...readGiven(known, parse(text), { what: file }), problems: [] };
  } catch (error) {
    return denied(error instanceof PolyError ? error.message : `${file}: ${(error as Error).message}`);
  }
}

function denied(problem: string): Config {
  const permission = { timeout: 0, spawn: denyAll, write: denyAll, directory: denyAll };
  return { ...known.parse({}), permission, problems: [problem] };
}
