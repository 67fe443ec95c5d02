import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { lstatSync } from 'node:fs';
import type { Socket } from 'node:net';
import { basename } from 'node:path';
import type { ConnectionOptions } from '../engine.ts';
import { TmuxError } from '../errors.ts';
import { shown } from '../operation/given.ts';
import { parseVersion, type TmuxVersion } from '../operation/version.ts';

/**
 * Starts the tmux program with the connection's flags. Always -u: without it, and without a UTF-8 locale, tmux
 * writes every other character as "_". TMUX is dropped, as it would make tmux refuse to attach inside itself.
 */
export function spawnTmux(
  connection: ConnectionOptions,
  args: readonly string[],
): ChildProcessWithoutNullStreams {
  const { TMUX: _, TMUX_PANE: __, ...env } = connection.env ?? process.env;
  refuseOtherFiles(connection.socketPath);
  const words = ['-u', ...connectionFlags(connection), ...args];
  const child = spawn(connection.tmux ?? 'tmux', words, { env, stdio: 'pipe' });
  child.on('exit', () => void releaseWhenQuiet(child));
  return child;
}

/** tmux removes whatever stands where its socket is to be. */
function refuseOtherFiles(socketPath: string | undefined): void {
  if (socketPath === undefined || !isOtherFile(socketPath)) return;
  const message = `${socketPath} is no socket, and tmux would put one in its place.`;
  throw new TmuxError('invalid_parameters', message, { socketPath });
}

function isOtherFile(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false })?.isSocket() === false;
  } catch {
    return false; // What cannot be looked at cannot be replaced either, and tmux says why.
  }
}

const quietMs = 250;

/**
 * The server holds the standard streams of its clients. If it hangs they stay open after the client's end; then we let
 * go of them, once nothing more comes.
 */
async function releaseWhenQuiet(child: ChildProcessWithoutNullStreams): Promise<void> {
  const streams = [child.stdout, child.stderr] as Socket[];
  for (let before = -1, now = 0; before !== now; ) {
    before = now;
    await new Promise((resolve) => setTimeout(resolve, quietMs).unref());
    now = streams.reduce((sum, stream) => sum + (stream.bytesRead ?? 0), 0);
  }
  for (const stream of streams) stream.destroy();
}

/** tmux's words for a connection; inside tmux and with nothing else said, the server we run in. */
export function connectionFlags(connection: ConnectionOptions): readonly string[] {
  const inherited = (connection.env ?? process.env).TMUX?.split(',')[0];
  const socketPath = connection.socketPath ?? (connection.socketName === undefined ? inherited : undefined);
  return [
    ...(socketPath ? ['-S', socketPath] : connection.socketName ? ['-L', connection.socketName] : []),
    ...(connection.configFile ? ['-f', connection.configFile] : []),
    ...(connection.colors256 ? ['-2'] : []),
  ];
}

/** A program that cannot be started is an error of the machine, not an answer of tmux. */
export function missingBinary(connection: ConnectionOptions, cause: unknown): TmuxError {
  const program = connection.tmux ?? 'tmux';
  return new TmuxError(
    'missing_binary',
    isAbsent(cause)
      ? `There is no program ${JSON.stringify(program)}${program.includes('/') ? '' : ' on the PATH'}.`
      : `Cannot run ${JSON.stringify(program)}: ${cause instanceof Error ? cause.message : String(cause)}.`,
    { program },
    cause,
  );
}

const isAbsent = (cause: unknown): boolean => (cause as NodeJS.ErrnoException | null)?.code === 'ENOENT';

/** What `tmux -V` says. */
export async function binaryVersion(connection: ConnectionOptions): Promise<TmuxVersion> {
  const program = connection.tmux ?? 'tmux';
  const child = spawn(program, ['-V'], { stdio: ['ignore', 'pipe', 'ignore'] });
  let said = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    said += text;
  });
  return new Promise((resolve, reject) => {
    child.on('error', (cause) => reject(missingBinary(connection, cause)));
    child.on('close', () => {
      if (isTmux(said, basename(program))) resolve(parseVersion(said.slice(said.indexOf(' '))));
      else reject(missingBinary(connection, `it is not tmux; asked for its version it said ${shown(said)}`));
    });
  });
}

/** Every tmux says `tmux 3.4`, `tmux next-3.8` or `tmux master`; up to 3.3a with its file's name instead of `tmux`. */
function isTmux(said: string, name: string): boolean {
  return (
    said.startsWith('tmux ') || (said.startsWith(`${name} `) && /^\S+ (next-)?\d+\.\d+[a-z]?\n$/.test(said))
  );
}
