import { spawn } from 'node:child_process';
import { basename } from 'node:path';
import { PolyError, type TmuxSession } from '@polyphony/protocol';
import type { Env } from '../env.ts';

/** Puts a tmux client into this terminal; answers the exit code it ended with. */
export async function attachTmux({ tmux, socket, name }: TmuxSession, env: Env): Promise<number> {
  if (!process.stdin.isTTY)
    throw new PolyError('invalid_arguments', 'attaching needs a terminal.', {
      hint: 'poly ls shows the panes.',
    });
  const server = socket.includes('/') ? ['-S', socket] : ['-L', socket];
  const target = `=${name}`;
  const inside = isInside(env, socket);
  // A client inside the same server cannot show that server once more; it goes to the session instead.
  const argv = inside ? ['switch-client', '-t', target] : ['attach-session', '-t', target];
  const { TMUX: _, TMUX_PANE: __, ...outside } = env;
  const child = spawn(tmux, [...server, ...argv], { stdio: 'inherit', env: inside ? env : outside });
  const passOn = (signal: NodeJS.Signals): void => void child.kill(signal);
  for (const signal of ['SIGTERM', 'SIGHUP', 'SIGINT'] as const) process.on(signal, passOn);
  return new Promise((resolve, reject) => {
    child.once('error', (cause) =>
      reject(
        new PolyError('unavailable', `tmux cannot be started: ${cause.message}`, {
          hint: 'Install tmux.',
          cause,
        }),
      ),
    );
    child.once('exit', (code) => resolve(code === 0 ? 0 : 1));
  });
}

function isInside({ TMUX = '' }: Env, socket: string): boolean {
  const [path = ''] = TMUX.split(',');
  return path === socket || (path !== '' && basename(path) === socket);
}
