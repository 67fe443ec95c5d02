import { spawn } from 'node:child_process';
import { closeSync, fstatSync, openSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type ErrorInfo, PolyError, type ServerStatus } from '@polyphony/protocol';
import { frugalMemory } from '../../platform/frugal-memory.ts';
import { placesOf } from '../../platform/places.ts';
import { privateDirectory } from '../../platform/private-files.ts';
import { readSettings } from '../../platform/settings.ts';
import { daemon } from './build.ts';
import type { Call } from './command.ts';
import type { Env } from './env.ts';
import { connectHub, readDiscovery } from './find-hub.ts';

interface StartFlags {
  readonly port?: number;
  readonly hostname?: string;
  readonly 'no-tcp'?: boolean;
  readonly foreground?: boolean;
}

export interface Started {
  /** What the hub says of itself; nothing when it ran in the foreground and has ended. */
  readonly status?: ServerStatus;
  readonly started: boolean;
}

type StartCall = Pick<Call, 'env' | 'out' | 'json'> & { readonly flags: StartFlags };

const startMs = 15_000;
const stopMs = 20_000;
const lookMs = 20;

/** Makes sure that a hub runs. Of many that are started at once one wins, and everybody gets to know that one. */
export async function startHub({ flags, env, out, json }: StartCall): Promise<Started> {
  const running = await statusOf(env);
  if (running) {
    if (flags.foreground)
      throw new PolyError('conflict', `a hub runs already (pid ${running.pid}).`, {
        hint: 'poly server stop ends it.',
      });
    return { status: running, started: false };
  }
  const daemonEnv = environmentOf(env, flags);
  if (flags.foreground) {
    const onReady = (status: ServerStatus): void =>
      json
        ? out.json({ started: true, ...status })
        : out.line(`The hub is up: ${status.url ?? status.socket} (pid ${status.pid}). Ctrl-C ends it.`);
    await runInForeground(daemonEnv, env, onReady);
    return { started: true };
  }
  return out.progress('starting the hub', runInBackground(daemonEnv, env));
}

/** Starts a hub again that was killed, without a word; one that was stopped has taken its address away, and stays so. */
export async function reviveHub(env: Env): Promise<void> {
  if (readDiscovery(env) && !(await statusOf(env)))
    await runInBackground(environmentOf(env, inPlaceOfLast(env)), env);
}

/** How a hub is started in the place of another: where that one was without TCP, with none, unless it is said where. */
export function inPlaceOfLast(env: Env, flags: StartFlags = {}): StartFlags {
  const last = readDiscovery(env);
  const opens = flags.port !== undefined || flags.hostname !== undefined;
  return last && last.url === undefined && !opens ? { ...flags, 'no-tcp': true } : flags;
}

/** Refuses what would keep a hub from starting, before one is stopped for it. */
export function checkSettings({ env, flags }: StartCall): void {
  readSettings(environmentOf(env, flags));
}

function environmentOf(env: Env, { port, hostname, 'no-tcp': noTcp }: StartFlags): Env {
  // A hub that is started from inside a pane is not that pane's.
  const {
    POLY_PANE: _pane,
    POLY_HOST: _host,
    POLY_TOKEN: _token,
    POLY_SOCKET: _socket,
    POLY_BASE_URL: _url,
    ...kept
  } = env;
  const { POLY_PORT: _port, ...outside } = kept;
  return {
    ...frugalMemory,
    ...(env.POLY_PANE === undefined ? kept : outside),
    ...(port !== undefined && { POLY_PORT: String(port) }),
    ...(hostname !== undefined && { POLY_HOSTNAME: hostname }),
    ...(noTcp && { POLY_NO_TCP: '1' }),
  };
}

/** Which of the flags a hub that runs already does not follow. */
export function unusedFlags(
  { port, hostname, 'no-tcp': noTcp }: StartFlags,
  { url }: ServerStatus,
): readonly string[] {
  const at = url === undefined ? undefined : new URL(url);
  return [
    ...(port !== undefined && (!at || (port !== 0 && port !== Number(at.port))) ? [`--port ${port}`] : []),
    ...(hostname !== undefined && at?.hostname.replace(/^\[|\]$/g, '') !== hostname
      ? [`--hostname ${hostname}`]
      : []),
    ...(noTcp && at ? ['--no-tcp'] : []),
  ];
}

async function runInForeground(
  daemonEnv: Env,
  env: Env,
  onReady: (status: ServerStatus) => void,
): Promise<void> {
  const child = spawn(process.execPath, [daemon], {
    env: daemonEnv,
    stdio: ['inherit', 'inherit', 'pipe'],
  });
  let said = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => (said += text));
  const stop = (): void => void child.kill('SIGTERM');
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, stop);
  let ended = false;
  const end = new Promise<number | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', resolve);
  }).finally(() => (ended = true));
  const ready = (async () => {
    for (; !ended; await sleep(lookMs)) {
      const status = await statusOf(env);
      if (status) return status.pid === child.pid ? onReady(status) : undefined;
    }
  })().catch((error: unknown) => {
    stop();
    throw error;
  });
  const [code] = await Promise.all([end, ready]);
  if (code !== 0) throw whyItEnded(said, code ?? 'a signal').error;
}

/** Nothing of it hangs on this terminal; what it has to say before its log is open goes to a file of its own. */
async function runInBackground(daemonEnv: Env, env: Env): Promise<Started> {
  const places = placesOf(env);
  for (const folder of [places.home, places.logs]) privateDirectory(folder);
  const file = join(places.logs, 'start.log');
  const log = openSync(file, 'a', 0o600);
  const { size } = fstatSync(log);
  const child = spawn(process.execPath, [daemon], {
    env: daemonEnv,
    cwd: homedir(),
    detached: true,
    stdio: ['ignore', log, log],
  });
  closeSync(log);
  let ended: number | string | undefined;
  child.once('error', (error) => (ended = error.message));
  child.once('exit', (code, signal) => (ended = code ?? signal ?? 'unknown'));
  child.unref();
  for (const until = performance.now() + startMs; performance.now() < until; await sleep(lookMs)) {
    if (ended !== undefined) {
      const { error, anotherRuns } = whyItEnded(readFileSync(file).subarray(size).toString('utf8'), ended);
      if (!anotherRuns) throw error;
    }
    const status = await statusOf(env);
    if (status) return { status, started: status.pid === child.pid };
  }
  throw new PolyError('timed_out', `the hub was not ready within ${startMs / 1000} s.`, {
    hint: 'poly server logs may say why.',
  });
}

/** Of several that start at once all but one find the lock taken: that one is worth waiting for. */
interface Ended {
  readonly error: PolyError;
  readonly anotherRuns: boolean;
}

function whyItEnded(text: string, ended: number | string): Ended {
  const said = text.split('\n').filter((line) => line.trim() !== '');
  for (const line of said.filter((one) => one.startsWith('{"error"'))) {
    try {
      const error = PolyError.from((JSON.parse(line) as { error: ErrorInfo }).error);
      return {
        error,
        anotherRuns: error.code === 'conflict' && error.message.startsWith('a hub runs already'),
      };
    } catch {
      // Cut off or not its own: the plain text below says as much.
    }
  }
  const first = said.slice(0, 8).join('\n');
  const message = `the hub ended (${ended}).${first && `\n${first}\n`}`;
  const hint = 'poly doctor may say what is missing.';
  return { error: new PolyError('action_failed', message, { hint }), anotherRuns: false };
}

/** What the hub says of itself, or undefined when none answers. */
export async function statusOf(env: Env): Promise<ServerStatus | undefined> {
  // The user's own token: a pane may not ask this.
  const { POLY_TOKEN: _, ...outside } = env;
  try {
    return await connectHub(outside).call('server:status', {});
  } catch (error) {
    if (error instanceof PolyError && (error.code === 'unreachable' || error.code === 'stopping'))
      return undefined;
    throw error;
  }
}

/** Settles when the process of a hub that was told to stop is gone, so that another can take its place. */
export async function hubEnded(pid: number | undefined): Promise<void> {
  if (pid === undefined || !Number.isSafeInteger(pid) || pid <= 1) return;
  for (const until = performance.now() + stopMs; performance.now() < until; await sleep(lookMs)) {
    try {
      process.kill(pid, 0);
    } catch {
      return; // There is no such process, or it is somebody else's by now.
    }
  }
  throw new PolyError('timed_out', `the hub (pid ${pid}) has not ended within ${stopMs / 1000} s.`, {
    hint: `See poly server logs; kill ${pid} ends it.`,
  });
}
