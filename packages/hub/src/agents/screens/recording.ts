import { readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import {
  type AgentStatus,
  type BlockedOn,
  blockedReasons,
  type PaneScreen,
  readGiven,
  type ScreenStatus,
  screenStatuses,
} from '@polyphony/protocol';
import * as z from 'zod';
import type { Reading } from '../read-screen.ts';
import { describedVendors, type ScreenRules } from './screen-rules.ts';

/** What stands beside a recorded screen, `idle-80x24.json` beside `idle-80x24.txt`. */
interface Recording {
  readonly vendor: (typeof describedVendors)[number];
  readonly version?: string | undefined;
  /** What must be read from it; `draft` is what the composer holds, null where there is none. */
  readonly state?: ScreenStatus | undefined;
  readonly blockedOn?: BlockedOn | undefined;
  readonly draft?: string | null | undefined;
  readonly queued?: boolean | undefined;
  readonly screen: Omit<PaneScreen, 'lines'>;
}

const recording: z.ZodType<Recording> = z.object({
  vendor: z.enum(describedVendors),
  version: z.string().optional(),
  state: z.enum(screenStatuses).optional(),
  blockedOn: z.enum(blockedReasons).optional(),
  draft: z.string().nullable().optional(),
  queued: z.boolean().optional(),
  screen: z.object({
    cols: z.int(),
    rows: z.int(),
    title: z.string(),
    cursor: z.object({ x: z.int(), y: z.int(), visible: z.boolean() }),
    alternate: z.boolean(),
    bracketedPaste: z.boolean().optional(),
  }),
});

/** How the rules read a recorded screen. */
export interface Checked {
  readonly file: string;
  /** What is wrong; undefined where they read what was recorded. */
  readonly problem?: string;
  readonly status?: AgentStatus;
  readonly evidence?: string;
}

/** Reads every recorded screen below a folder by the rules, and says of each whether it was read as what it is. */
export function checkRecordings(folder: string, rules: ScreenRules): readonly Checked[] {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  return files
    .filter((file) => file.endsWith('.txt') && files.includes(notesOf(file)))
    .sort()
    .map((file) => check(join(folder, file), rules));
}

const notesOf = (file: string): string => join(dirname(file), `${basename(file, '.txt')}.json`);

function check(file: string, rules: ScreenRules): Checked {
  try {
    const what = notesOf(file);
    const notes = readGiven(recording, JSON.parse(readFileSync(what, 'utf8')), { what });
    const lines = readFileSync(file, 'utf8').replace(/\n$/, '').split('\n');
    const reading = rules.readScreen(notes.vendor, { ...notes.screen, lines }, notes.version);
    const { status, evidence } = reading;
    const problem = differenceOf(notes, reading);
    return { file, status, evidence, ...(problem !== undefined && { problem }) };
  } catch (error) {
    return { file, problem: (error as Error).message };
  }
}

function differenceOf({ state, blockedOn, draft, queued }: Recording, reading: Reading): string | undefined {
  if (state === undefined)
    return `nobody has said what it shows: write "state" into its .json, one of ${screenStatuses.join(', ')}`;
  const wanted = { state, blockedOn, draft, queued };
  const read = {
    state: reading.status,
    blockedOn: reading.blockedOn,
    draft: reading.composer?.draft ?? null,
    queued: reading.queued ?? false,
  };
  const parts = (Object.keys(wanted) as (keyof typeof wanted)[])
    .filter((part) => wanted[part] !== undefined && wanted[part] !== read[part])
    .map(
      (part) =>
        `${part} is read as ${JSON.stringify(read[part] ?? null)}, not ${JSON.stringify(wanted[part])}`,
    );
  return parts.length > 0 ? `${parts.join(', ')} (${reading.evidence})` : undefined;
}
