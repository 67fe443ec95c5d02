import { closeSync, openSync, readSync, statSync, watch } from 'node:fs';
import { join } from 'node:path';
import { type ErrorInfo, PolyError } from '@polyphony/protocol';
import type { Call } from './command.ts';
import { homeOf } from './find-hub.ts';
import { shown } from './output.ts';

interface LogFlags {
  readonly tail?: number;
  readonly follow?: boolean;
  readonly audit?: boolean;
}

/** How far back lines are looked for. */
const mostBytes = 4 * 1024 * 1024;

/** Reads the files themselves: a hub that could not start has most to say. */
export async function showLogs({ flags, env, out, json }: Call & { flags: LogFlags }): Promise<void> {
  const { tail = 50, follow = false, audit = false } = flags;
  const folder = join(homeOf(env), 'logs');
  const file = join(folder, audit ? 'audit.log' : 'hub.log');
  const failedStart = audit ? [] : lastWordsOfStart(folder, file);
  const size = sizeOf(file);
  if (size === undefined && !follow && failedStart.length === 0)
    throw new PolyError('not_found', `there is no ${file}: no hub has run here yet.`, {
      hint: 'Start one with: poly up',
    });
  let from = size ?? 0;
  let cut = '';
  const print = (line: string): void => (json ? out.line(line) : out.line(pretty(line, out)));
  const lines = readText(file, Math.max(0, from - mostBytes), from)
    .split('\n')
    .filter(Boolean);
  const shownLines = [...lines, ...failedStart];
  for (const line of tail === 0 ? [] : shownLines.slice(-tail)) print(line);
  if (!follow) return;
  const readOn = (): void => {
    const now = sizeOf(file) ?? 0;
    if (now < from) from = 0; // Set aside, and begun anew.
    const [first = '', ...more] = readText(file, from, now).split('\n');
    from = now;
    const parts = [cut + first, ...more];
    cut = parts.pop() ?? '';
    for (const line of parts) print(line);
  };
  watch(folder, readOn);
  await new Promise(() => undefined); // Until the reader has had enough.
}

/** Why the last hub could not start; nothing where it could, or where another ran. */
export function failedStart(folder: string): ErrorInfo | undefined {
  for (const line of lastWordsOfStart(folder, join(folder, 'hub.log')).toReversed()) {
    if (!line.startsWith('{"error"')) continue;
    try {
      const { error } = JSON.parse(line) as { readonly error: ErrorInfo };
      return error.message.startsWith('a hub runs already') ? undefined : error;
    } catch {
      return undefined; // Cut off: poly server logs shows what there is.
    }
  }
  return undefined;
}

/** What a hub said that could not start: it may have come before its log was open, and nothing has come after it. */
function lastWordsOfStart(folder: string, log: string): readonly string[] {
  const file = join(folder, 'start.log');
  const { size = 0, mtimeMs = 0 } = statSync(file, { throwIfNoEntry: false }) ?? {};
  const { mtimeMs: logged = 0 } = statSync(log, { throwIfNoEntry: false }) ?? {};
  if (mtimeMs < logged) return [];
  return readText(file, Math.max(0, size - mostBytes), size)
    .split('\n')
    .filter(Boolean);
}

function sizeOf(file: string): number | undefined {
  return statSync(file, { throwIfNoEntry: false })?.size;
}

function readText(file: string, from: number, to: number): string {
  if (to <= from) return '';
  const bytes = Buffer.alloc(to - from);
  const fd = openSync(file, 'r');
  try {
    return bytes.subarray(0, readSync(fd, bytes, 0, bytes.length, from)).toString('utf8');
  } finally {
    closeSync(fd);
  }
}

function pretty(line: string, out: Call['out']): string {
  try {
    const { at, level, message, error, ...fields } = JSON.parse(line) as Record<string, unknown>;
    if (at === undefined && error !== undefined) return `${out.paint('red', 'not started')} ${said(error)}`;
    if (error !== undefined) fields.error = error;
    const more = Object.keys(fields).length > 0 ? ` ${JSON.stringify(fields)}` : '';
    const colour = level === 'error' ? 'red' : level === 'warn' ? 'yellow' : 'green';
    return `${out.paint('dim', String(at))} ${out.paint(colour, String(level))} ${shown(`${message}${more}`, 2000)}`;
  } catch {
    return shown(line, 2000); // The first line may begin in its middle.
  }
}

function said(error: unknown): string {
  const { message = '', hint = '' } = error as Partial<ErrorInfo>;
  return shown([message, hint].filter(Boolean).join(' '), 2000);
}
