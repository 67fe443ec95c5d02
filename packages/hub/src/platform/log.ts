import { appendFileSync, existsSync, renameSync, statSync } from 'node:fs';
import type { Clock } from './clock.ts';

type LogLevel = 'info' | 'warn' | 'error';

/** Lines of JSON, one a record: nothing that a program or a person named can forge a second one. */
export interface Log {
  info(message: string, fields?: object): void;
  warn(message: string, fields?: object): void;
  error(message: string, fields?: object): void;
}

const largestLog = 8 * 1024 * 1024;

export interface FileLogOptions {
  readonly clock: Clock;
  /** What may be kept of a line. */
  readonly hide?: (text: string) => string;
  /** How many files that have grown large are kept beside it: `.1` is the newest. */
  readonly keep?: number;
}

export function createFileLog(file: string, { clock, hide = (text) => text, keep = 1 }: FileLogOptions): Log {
  let size = sizeOf(file);
  const write = (level: LogLevel, message: string, fields: object = {}): void => {
    const record = { at: new Date(clock.now()).toISOString(), level, message, ...fields };
    const line = `${hide(JSON.stringify(record, plainError))}\n`;
    try {
      if (size > largestLog) {
        setAside(file, keep);
        size = 0;
      }
      appendFileSync(file, line, { mode: 0o600 });
      size += Buffer.byteLength(line);
    } catch {
      // A full disk must not stop the hub, and there is nowhere left to say so.
    }
  };
  return {
    info: (message, fields) => write('info', message, fields),
    warn: (message, fields) => write('warn', message, fields),
    error: (message, fields) => write('error', message, fields),
  };
}

function setAside(file: string, keep: number): void {
  for (let n = keep; n > 1; n--)
    if (existsSync(`${file}.${n - 1}`)) renameSync(`${file}.${n - 1}`, `${file}.${n}`);
  renameSync(file, `${file}.1`);
}

function sizeOf(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.size ?? 0;
}

function plainError(_key: string, value: unknown): unknown {
  if (!(value instanceof Error)) return value;
  return { name: value.name, message: value.message, stack: value.stack, cause: value.cause };
}
