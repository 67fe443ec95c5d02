import { readFileSync } from 'node:fs';
import { parse } from 'smol-toml';
import * as z from 'zod';

export type Verdict = 'allow' | 'ask' | 'deny';
/** What is asked about, as patterns with `*`, and what the user decided. */
export type Rules = Readonly<Record<string, Verdict>>;

export interface Config {
  readonly permission: { readonly spawn: Rules; readonly write: Rules; readonly directory: Rules };
  /** How much output is kept: of one pane, and of all together. */
  readonly output: { readonly pane_mb: number; readonly all_mb: number };
  /** What is wrong with the file, for people. */
  readonly problems: readonly string[];
}

const rules = z.record(z.string().min(1), z.enum(['allow', 'ask', 'deny'])).default({});
const output = z.strictObject({
  pane_mb: z.int().min(1).max(1024).default(16),
  all_mb: z.int().min(1).max(1_000_000).default(512),
});
const known = z.strictObject({
  output: output.prefault({}),
  permission: z.strictObject({ spawn: rules, write: rules, directory: rules }).prefault({}),
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
    return { ...known.parse(parse(text)), problems: [] };
  } catch (error) {
    const why = error instanceof z.ZodError ? z.prettifyError(error) : (error as Error).message;
    return denied(`${file}: ${why}`);
  }
}

function denied(problem: string): Config {
  const permission = { spawn: denyAll, write: denyAll, directory: denyAll };
  return { ...known.parse({}), permission, problems: [problem] };
}

/** The verdict of the most specific pattern that fits: the one with the most literal characters. */
export function judge(all: Rules, subject: string, otherwise: Verdict): Verdict {
  const fitting = Object.keys(all).filter((pattern) => matcher(pattern).test(subject));
  const [best] = fitting.sort((a, b) => literal(b) - literal(a));
  return (best !== undefined && all[best]) || otherwise;
}

const literal = (pattern: string): number => pattern.replaceAll('*', '').length;

function matcher(pattern: string): RegExp {
  const parts = pattern.split('*').map((part) => part.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&'));
  return new RegExp(`^${parts.join('.*')}$`, 's');
}
