import {
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  openSync,
  readFileSync,
  realpathSync,
  type Stats,
  statSync,
} from 'node:fs';
import { homedir } from 'node:os';
import { dirname } from 'node:path';
import { readGiven } from '@polyphony/protocol';
import { parse, TomlError } from 'smol-toml';
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
  /** Where people are told of an agent that needs them. */
  readonly notify: { readonly terminal: boolean; readonly desktop: boolean };
  /** After how long the sender of a message that wants an answer hears that nobody has read it. */
  readonly mail: { readonly unread_alert: number };
  /** How long a driver who does nothing keeps the seat of a session. */
  readonly floor: { readonly seat_lease: number };
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
const output = z
  .strictObject({
    keep: z.enum(['memory', 'disk']).default('memory'),
    pane_mb: z.int().min(1).max(1024).optional(),
    all_mb: z.int().min(1).max(1_000_000).default(512),
    pane_disk_mb: z.int().min(1).max(100_000).optional(),
    all_disk_mb: z.int().min(2).max(10_000_000).default(2048),
  })
  .transform((sizes) => ({
    ...sizes,
    // Whoever makes all of them smaller has said nothing about one.
    pane_mb: sizes.pane_mb ?? Math.min(16, sizes.all_mb),
    pane_disk_mb: sizes.pane_disk_mb ?? Math.min(64, sizes.all_disk_mb),
  }))
  .superRefine((sizes, { addIssue }) => {
    for (const [one, all] of [
      ['pane_mb', 'all_mb'],
      ['pane_disk_mb', 'all_disk_mb'],
    ] as const)
      if (sizes[one] > sizes[all])
        addIssue({ code: 'custom', path: [one], message: `must be at most ${all}, which is ${sizes[all]}` });
  });
const known = z.strictObject({
  floor: z
    .strictObject({
      seat_lease: duration.refine((ms) => ms >= 1000, 'must be at least "1s"').prefault('30m'),
    })
    .prefault({}),
  mail: z.strictObject({ unread_alert: duration.prefault('15m') }).prefault({}),
  notify: z
    .strictObject({ terminal: z.boolean().default(true), desktop: z.boolean().default(true) })
    .prefault({}),
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
/** In such a folder nobody replaces what is somebody else's. */
const sticky = 0o1000;
const denyAll: Rules = { '*': 'deny' };

/** Reads the user's configuration. One that cannot be read denies: it may have meant to. */
export function readConfig(file: string): Config {
  let text: string;
  try {
    if (!lstatSync(file, { throwIfNoEntry: false })) return { ...known.parse({}), problems: [] };
    text = readTrusted(file);
  } catch (error) {
    return denied(`${file} cannot be read: ${(error as Error).message}`);
  }
  try {
    return { ...readGiven(known, parse(text), { what: file }), problems: [] };
  } catch (error) {
    return denied(error instanceof TomlError ? noToml(file, error) : (error as Error).message);
  }
}

/** Follows a link, as people who keep their settings elsewhere have one; what it leads to must be as safe as a file here. */
function readTrusted(file: string): string {
  const real = realpathSync(file);
  const fd = openSync(real, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    const stat = fstatSync(fd);
    if (!stat.isFile()) throw new Error(`${real} is no file`);
    const folder = statSync(dirname(real));
    refuseForeign(dirname(real), folder, (folder.mode & sticky) !== 0);
    const hidden = folder.uid === process.getuid?.() && (folder.mode & 0o077) === 0;
    refuseForeign(real, stat, hidden);
    return readFileSync(fd, 'utf8');
  } finally {
    closeSync(fd);
  }
}

/** Throws when somebody else could change it; the one who may do everything is nobody else. */
function refuseForeign(path: string, { uid, mode }: Stats, outOfReach: boolean): void {
  if (process.getuid && uid !== process.getuid() && uid !== 0)
    throw new Error(`${path} belongs to somebody else; put it where only you can write`);
  if (mode & 0o022 && !outOfReach)
    throw new Error(
      `${path} can be changed by others (mode ${(mode & 0o777).toString(8)}); make it yours alone with: chmod go-w ${path}`,
    );
}

/** Its own message has many lines, with a picture of the place. */
function noToml(file: string, { line, column, message }: TomlError): string {
  const why = message.split('\n', 1)[0]?.replace(/^Invalid TOML document: /, '');
  return `${file}, line ${line}, column ${column}: ${why}.`;
}

function denied(problem: string): Config {
  const permission = { timeout: 0, spawn: denyAll, write: denyAll, directory: denyAll };
  return { ...known.parse({}), permission, problems: [problem] };
}
