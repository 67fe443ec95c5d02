import { spawn } from 'node:child_process';
import { PolyError } from '@polyphony/protocol';

interface GitOptions {
  /** What is fetched, as it was given. */
  readonly from?: string;
  readonly signal?: AbortSignal;
  readonly timeout?: number;
  readonly env?: Readonly<Record<string, string>>;
}

const safeConfig = [
  ['core.hooksPath', '/dev/null'],
  ['core.fsmonitor', 'false'],
  ['submodule.recurse', 'false'],
  ['maintenance.auto', 'false'],
  ['gc.auto', '0'],
].flatMap(([key, value]) => ['-c', `${key}=${value}`]);

/** No list of the files of anything that may be installed is longer. */
const mostSaid = 64 * 1024 * 1024;

/**
 * Runs git and answers what it printed. Where it has to be stopped, all that it started is stopped with it, and is
 * gone when this settles: nothing writes into the folder any more.
 */
export async function git(
  args: readonly string[],
  { env, from = 'it', signal, timeout }: GitOptions = {},
): Promise<string> {
  const child = spawn('git', [...safeConfig, ...args], {
    cwd: '/',
    env: { ...gitEnvironment(process.env), ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
  const ended = Promise.withResolvers<number | null>();
  child.on('error', ended.reject);
  // When the last of them that could still say something has ended.
  child.on('close', ended.resolve);
  let stopped = false;
  const stop = (): void => {
    stopped = true;
    try {
      if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
    } catch {
      // They have all ended.
    }
  };
  const said = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const)
    child[name].setEncoding('utf8').on('data', (text: string) => {
      said[name] += text;
      if (said[name].length > mostSaid) stop();
    });
  signal?.addEventListener('abort', stop, { once: true });
  const limit = timeout === undefined ? undefined : setTimeout(stop, timeout);
  try {
    const code = await ended.promise;
    if (stopped) throw new PolyError('timed_out', `git took too long to fetch ${from} and was stopped.`);
    if (code !== 0)
      throw new PolyError('action_failed', `git could not fetch ${from}: ${firstLines(said.stderr)}`);
    return said.stdout;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    throw new PolyError('unavailable', 'git is not installed, or not on the PATH of the hub.', {
      hint: 'Install git, or give the path of a folder.',
      cause: error,
    });
  } finally {
    clearTimeout(limit);
    signal?.removeEventListener('abort', stop);
  }
}

/** Why comes first; where git puts it for a moment is no affair of whoever reads this. */
function firstLines(stderr: string): string {
  const said = stderr
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('Cloning into'))
    .slice(0, 3)
    .join(' ')
    .slice(0, 500);
  return said || 'it did not say why';
}

/** Without our secrets, and without what says to git that it is somewhere else. */
function gitEnvironment(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const kept = Object.entries(env).filter(([key]) =>
    key.startsWith('GIT_') ? /^GIT_(SSH|SSL|HTTP|PROXY|ASKPASS)/.test(key) : !key.startsWith('POLY_'),
  );
  return {
    ...Object.fromEntries(kept),
    GIT_TERMINAL_PROMPT: '0',
    GIT_ALLOW_PROTOCOL: 'https:ssh:file',
    LC_ALL: 'C',
  };
}
