import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readFileSync, statSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { HostError } from './host-error.ts';

export interface LaunchOptions {
  /** Program and first arguments that run `runHost`. */
  readonly command: readonly string[];
  /** For the programs the host starts, if this process has another. */
  readonly umask?: number | undefined;
  /** Of this program. */
  readonly version?: string | undefined;
  readonly idleMs?: number | undefined;
  readonly screenIdleMs?: number | undefined;
  /** The folder for output that is to outlive the host. */
  readonly panes?: string | undefined;
}

/** How long a start may take. */
export const startingMs: number = 15_000;
const largestLog = 1024 * 1024;
/** What a host needs of our environment; tokens and what describes our own terminal stay here. */
const passedOn = ['PATH', 'HOME', 'USER', 'LOGNAME', 'LANG', 'LC_ALL', 'TMPDIR', 'TZ'];

/** Starts a host, detached from us; answers when it serves, or has found another that does. */
export async function launchHost(dir: string, options: LaunchOptions): Promise<void> {
  const [program = '', ...first] = options.command;
  const given = {
    dir,
    panes: options.panes,
    umask: options.umask?.toString(8),
    version: options.version,
    'idle-ms': options.idleMs,
    'screen-idle-ms': options.screenIdleMs,
    'ready-fd': 3,
  };
  const args = Object.entries(given).flatMap(([name, value]) =>
    value === undefined ? [] : [`--${name}`, String(value)],
  );
  const log = openSync(join(dir, 'host.log'), 'a', 0o600);
  try {
    if (statSync(join(dir, 'host.log')).size > largestLog) truncateSync(join(dir, 'host.log'));
    const { size } = statSync(join(dir, 'host.log'));
    const child = spawn(program, [...first, ...args], {
      cwd: '/',
      detached: true,
      stdio: ['ignore', log, log, 'pipe'],
      env: Object.fromEntries(passedOn.map((name) => [name, process.env[name]])),
    });
    child.unref();
    const ready = child.stdio[3] as Readable;
    const signal = AbortSignal.timeout(startingMs);
    const ended = once(child, 'exit', { signal });
    ended.catch(() => undefined); // One that serves does not end.
    let isReady = false;
    ready.on('data', () => {
      isReady = true;
    });
    // It says that it is ready, or it ends and with it the pipe, which may be seen before its end is.
    const [outcome] = await Promise.race([
      once(ready, 'close', { signal }).then(() => (isReady ? [undefined] : ended.then(() => [undefined]))),
      once(child, 'error').then(([error]) => [error]),
    ]);
    ready.destroy();
    if (outcome) throw outcome;
    if (child.exitCode) throw new Error(`It ended with code ${child.exitCode}${lastWords(dir, size)}.`);
  } catch (cause) {
    if (cause instanceof HostError) throw cause;
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new HostError(
      'host_unavailable',
      `The terminal host does not start: ${reason}`,
      {
        dir,
        program,
        log: logTail(dir),
      },
      cause,
    );
  } finally {
    closeSync(log);
  }
}

/** What a host has said of why it ends; the log has what those before it said, up to this size. */
function lastWords(dir: string, size: number): string {
  const said = readFileSync(join(dir, 'host.log')).subarray(size).toString();
  const lines = said.split('\n').filter((line) => line.trim() !== '');
  const line = lines.find((one) => /Error\b.*: /.test(one)) ?? lines[0];
  return line === undefined ? '' : `, and said: ${line.slice(0, 500)}`;
}

/** What the host has said last. */
export function logTail(dir: string): string {
  try {
    return readFileSync(join(dir, 'host.log'), 'utf8').slice(-2_000);
  } catch {
    return ''; // Nothing was ever noted.
  }
}
